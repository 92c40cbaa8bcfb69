/** The hits of a search, page by page; what is asked for anew ends what was asked before. */

import { get } from "../../shared/api/request.js";
import { useEffect, useRef, useState } from "../../shared/preact.js";
import { onceEach } from "./once_each.js";
import { parametersOf } from "./parameters.js";

/** @typedef {import("../../shared/api/types.js").Schema<"HitResult">} Hit */
/** @typedef {{hits: Hit[] | null, cursor: string | null, note: string, error: unknown, isLoading: boolean}} State */

const PAUSE = 180;
/** @type {State} */
const NOTHING = { hits: null, cursor: null, note: "", error: null, isLoading: false };

/** @param {Record<string, string>} query */
export function useHits(query) {
  const [state, setState] = useState(NOTHING);
  const abort = useRef(new AbortController());
  const [attempt, setAttempt] = useState(0);
  const parameters = parametersOf(query);
  const load = async (/** @type {Hit[]} */ before, /** @type {string | null} */ cursor) => {
    abort.current.abort();
    const { signal } = (abort.current = new AbortController());
    setState((now) => ({ ...now, error: null, isLoading: true }));
    try {
      const page = await get("/api/drive/search", { ...parameters, cursor }, { signal });
      const hits = onceEach([...before, ...page.items]);
      setState({ hits, cursor: page.cursor, note: page.note, error: null, isLoading: false });
    } catch (error) {
      if (!signal.aborted) setState({ ...NOTHING, error });
    }
  };
  useEffect(() => {
    abort.current.abort();
    if (!parameters.q) return setState(NOTHING);
    const timer = setTimeout(() => void load([], null), PAUSE);
    return () => clearTimeout(timer);
  }, [JSON.stringify(parameters), attempt]);
  useEffect(() => () => abort.current.abort(), []);
  return {
    ...state,
    hasMore: Boolean(state.cursor),
    more: () => void load(state.hits ?? [], state.cursor),
    retry: () => setAttempt(attempt + 1),
  };
}
