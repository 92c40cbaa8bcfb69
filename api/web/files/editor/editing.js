/** The text that is being written: loaded, kept as a draft, saved, compared with what somebody else wrote. */

import { Problem } from "../../shared/api/problem.js";
import { announce, notify, notifyProblem } from "../../shared/components/notices.js";
import { useEffect, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { draftOf, forgetDraft, keepDraft } from "./drafts.js";
import { fetchStored, save } from "./stored.js";

/** @typedef {import("./stored.js").Stored} Stored */

const PAUSE = 400;

/** @param {import("./stored.js").Item} item */
export function useEditing(item) {
  const [stored, setStored] = useState(/** @type {Stored | null} */ (null));
  const [mine, setMine] = useState("");
  const [theirs, setTheirs] = useState(/** @type {Stored | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [draftAt, setDraftAt] = useState("");
  const [isSaving, setSaving] = useState(false);
  const isDirty = stored !== null && mine !== stored.text;
  const load = () => {
    setError(null);
    fetchStored(item.id).then((found) => {
      const draft = draftOf(item.id);
      const isUseful = draft !== null && draft.text !== found.text;
      setStored(isUseful ? { ...found, etag: draft.etag, version: draft.version } : found);
      setMine(isUseful ? draft.text : found.text);
      setDraftAt(isUseful ? draft.at : "");
    }, setError);
  };
  useEffect(load, [item.id]);
  useKeeping(item.id, stored, mine, isDirty);

  /** @param {Stored} now */
  const saved = (now) => {
    forgetDraft(item.id);
    setStored(now);
    setTheirs(null);
    setDraftAt("");
    announce(text("editor.saved", { version: now.version }));
  };
  /** @param {Stored} base */
  const saveOver = async (base) => {
    setSaving(true);
    try {
      saved(await save(item, base, mine));
    } catch (problem) {
      if (problem instanceof Problem && problem.code === "etag_mismatch") await compare(base).catch(notifyProblem);
      else notifyProblem(problem);
    }
    setSaving(false);
  };
  /** Another name is no conflict: then what was there is there still. @param {Stored} base */
  const compare = async (base) => {
    const found = await fetchStored(item.id);
    if (found.text === base.text && found.version === base.version) saved(await save(item, found, mine));
    else if (found.text === mine) saved(found);
    else setTheirs(found);
  };
  return {
    stored,
    mine,
    theirs,
    error,
    draftAt,
    isDirty,
    isSaving,
    load,
    write: setMine,
    save: () => (stored && isDirty && !isSaving ? saveOver(stored) : undefined),
    compare: () => stored && compare(stored).catch(notifyProblem),
    keepMine: () => theirs && saveOver({ ...theirs, lineEnd: stored?.lineEnd ?? theirs.lineEnd }),
    takeTheirs: () => theirs && take(theirs),
    merge: () => setTheirs(null),
    /** From now on what is written goes over what they wrote. @param {Stored} found */
    goOnFrom: (found) => {
      setStored(found);
      setTheirs(null);
    },
    discard: () => fetchStored(item.id).then(begin, notifyProblem),
  };

  /** Nothing of the draft is asked for again: it may be kept once more until here. @param {Stored} found */
  function begin(found) {
    forgetDraft(item.id);
    setStored(found);
    setMine(found.text);
    setDraftAt("");
  }

  /** @param {Stored} found */
  function take(found) {
    const before = { stored, mine };
    forgetDraft(item.id);
    setStored(found);
    setMine(found.text);
    setTheirs(null);
    const undo = () => {
      setStored(before.stored);
      setMine(before.mine);
    };
    notify(text("editor.taken"), { action: { title: text("editor.undo"), run: undo } });
  }
}

/**
 * Keep what is not saved, a moment after each change and when the page is left.
 * @param {string} id
 * @param {Stored | null} stored
 * @param {string} mine
 * @param {boolean} isDirty
 */
function useKeeping(id, stored, mine, isDirty) {
  const latest = useRef({ stored, mine, isDirty });
  latest.current = { stored, mine, isDirty };
  const keep = () => {
    const now = latest.current;
    if (now.stored && now.isDirty)
      keepDraft(id, { text: now.mine, etag: now.stored.etag, version: now.stored.version });
  };
  useEffect(() => {
    if (!stored) return undefined;
    if (!isDirty) {
      forgetDraft(id);
      return undefined;
    }
    const timer = setTimeout(keep, PAUSE);
    return () => clearTimeout(timer);
  }, [stored, mine, isDirty]);
  useEffect(() => {
    const warn = (/** @type {BeforeUnloadEvent} */ event) => {
      keep();
      if (latest.current.isDirty) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => {
      removeEventListener("beforeunload", warn);
      keep();
    };
  }, [id]);
}
