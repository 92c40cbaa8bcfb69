/** All conversations: searched, opened, renamed, saved, deleted. */

import { get } from "../../shared/api/request.js";
import { Button, IconButton } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { openMenu } from "../../shared/components/menus.js";
import { Empty, Failure, Loading } from "../../shared/components/states.js";
import { goToThread, place } from "../../shared/location.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { moment, shortDate } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { threadsChanged } from "../conversation/conversation.js";
import { newConversation } from "../new_conversation.js";
import { activeThreads, exportThread, removeThread, rename } from "./actions.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/threads.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"ThreadSummary">} Thread */
/** @typedef {{items: Thread[], cursor: string | null, states: Map<string, string>, error: unknown, loading: boolean}} Listed */

const PAGE = 50;
const TYPING = 200;
const LOOK_AGAIN = 5000;
/** @type {Listed} */
const NOTHING = { items: [], cursor: null, states: new Map(), error: null, loading: true };

/** @param {{onClose: () => void}} properties */
export function Threads({ onClose }) {
  const [words, setWords] = useState("");
  const { listed, more, again } = useThreads(words);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.focus(), []);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const open = (/** @type {string} */ id) => {
    goToThread(id);
    onClose();
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") onClose();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !list.current) return;
    event.preventDefault();
    const rows = /** @type {HTMLElement[]} */ ([...list.current.querySelectorAll(".thread-open")]);
    const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
  };
  const start = () => {
    newConversation();
    onClose();
  };
  return html`<div class="threads" onKeyDown=${press}>
    <div class="threads-top">
      <label class="field"
        ><span class="hidden">${text("threads.search")}</span>
        <input
          type="search"
          ref=${field}
          placeholder=${text("threads.search")}
          value=${words}
          onInput=${(/** @type {any} */ event) => setWords(event.target.value)}
      /></label>
      <${Button} icon="plus" onClick=${start}>${text("threads.new")}<//>
    </div>
    <ul ref=${list} aria-label=${text("threads.list")}>
      ${listed.items.map((one) => html`<${Row} key=${one.thread_id} thread=${one} status=${listed.states.get(one.thread_id)} onOpen=${open} />`)}
    </ul>
    <${End} listed=${listed} words=${words} more=${more} again=${again} />
  </div>`;
}

/** @param {{listed: Listed, words: string, more: () => void, again: () => void}} properties */
function End({ listed, words, more, again }) {
  if (listed.error) return html`<${Failure} error=${listed.error} onRetry=${again} />`;
  if (listed.loading) return html`<${Loading} />`;
  if (listed.cursor) return html`<${Button} class="more" onClick=${more}>${text("threads.more")}<//>`;
  if (listed.items.length) return null;
  return words.trim()
    ? html`<${Empty} icon="search" title=${text("threads.not_found")} hint=${text("threads.not_found_hint")} />`
    : html`<${Empty} icon="chat" title=${text("threads.none")} hint=${text("threads.none_hint")} />`;
}

/** @param {{thread: Thread, status: string | undefined, onOpen: (id: string) => void}} properties */
function Row({ thread, status, onOpen }) {
  const { thread_id: id, title, updated_at: updated } = thread;
  const show = (/** @type {MouseEvent} */ event) =>
    openMenu(
      /** @type {Element} */ (event.currentTarget),
      [
        { title: text("threads.rename"), icon: "edit", run: () => void rename(thread) },
        { title: text("threads.export.markdown"), icon: "download", run: () => void exportThread(thread, "markdown") },
        { title: text("threads.export.json"), icon: "download", run: () => void exportThread(thread, "json") },
        {},
        { title: text("threads.delete"), icon: "trash", danger: true, run: () => void removeThread(thread) },
      ],
      text("threads.menu_of", { title }),
    );
  return html`<li class="thread">
    <button
      type="button"
      class="thread-open"
      aria-current=${place.value.query.thread === id ? "true" : undefined}
      onClick=${() => onOpen(id)}
    >
      <span class="thread-title">${title}</span>
      <span class="thread-facts">
        ${status === "waiting" && html`<span class="mark waiting"><${Icon} name="bell" />${text("threads.waiting")}</span>`}
        ${status === "running" && html`<span class="mark"><span class="spinner" aria-hidden="true"></span>${text("threads.running")}</span>`}
        <time datetime=${updated} title=${moment(updated)}>${shortDate(updated)}</time>
      </span>
    </button>
    <${IconButton} icon="more" label=${text("threads.menu_of", { title })} aria-haspopup="menu" onClick=${show} />
  </li>`;
}

/**
 * The threads with these words, page by page; listed again when one changes, and while a run works in one.
 * @param {string} words
 */
function useThreads(words) {
  const [listed, setListed] = useState(NOTHING);
  const [count, setCount] = useState(0);
  const change = threadsChanged.value;
  const list = async (/** @type {string | null} */ cursor, /** @type {AbortSignal} */ abort) => {
    const [page, states] = await Promise.all([
      get("/api/threads", { q: words.trim(), limit: PAGE, cursor }, { signal: abort }),
      activeThreads(),
    ]);
    if (abort.aborted) return;
    setListed((old) => ({
      items: cursor ? old.items.concat(page.items) : page.items,
      cursor: page.cursor,
      states,
      error: null,
      loading: false,
    }));
  };
  const attempt = (/** @type {string | null} */ cursor, /** @type {AbortSignal} */ abort) =>
    list(cursor, abort).catch((error) => !abort.aborted && setListed((old) => ({ ...old, error, loading: false })));
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => void attempt(null, abort.signal), words ? TYPING : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [words, change, count]);
  const isActive = listed.states.size > 0;
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(() => setCount((old) => old + 1), LOOK_AGAIN);
    return () => clearInterval(timer);
  }, [isActive]);
  return {
    listed,
    more: () => void attempt(listed.cursor, new AbortController().signal),
    again: () => setCount(count + 1),
  };
}
