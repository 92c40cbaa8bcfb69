/** Files and folders to pick after an `@`. The focus stays in the field; its arrows move here. */

import { get } from "../../shared/api/request.js";
import { Icon } from "../../shared/components/icon.js";
import { html, useEffect, useLayoutEffect, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("../../shared/attachments.js").Attachment} Attachment */

const MOST = 8;
const AFTER = 120;

/**
 * @param {object} properties
 * @param {string} properties.words
 * @param {(item: Attachment) => void} properties.onPick
 * @param {() => void} properties.onClose
 * @param {{current: ((event: KeyboardEvent) => boolean) | null}} properties.keys gets what takes the field's keys first
 */
export function Mentions({ words, onPick, onClose, keys }) {
  const [items, setItems] = useState(/** @type {any[]} */ ([]));
  const [at, setAt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      find(words, abort.signal).then(
        (found) => {
          setItems(found);
          setAt(0);
        },
        () => undefined,
      );
    }, AFTER);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [words]);
  useLayoutEffect(() => {
    const field = document.getElementById("composer");
    if (items.length) field?.setAttribute("aria-activedescendant", `mention-${at}`);
    return () => field?.removeAttribute("aria-activedescendant");
  }, [at, items]);
  useLayoutEffect(() => {
    keys.current = (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") onClose();
      else if (!items.length) return false;
      else if (step) setAt((at + step + items.length) % items.length);
      else if (event.key === "Enter" || event.key === "Tab") onPick(items[at]);
      else return false;
      event.preventDefault();
      return true;
    };
    return () => {
      keys.current = null;
    };
  });
  return html`<div class="mentions">
    <div role="status" class="hidden">${text("chat.mentions_found", { count: items.length })}</div>
    <ul id="mentions" role="listbox" aria-label=${text("chat.mentions")}>
      ${items.map(
        (item, index) =>
          html`<li
            key=${item.id}
            id=${`mention-${index}`}
            role="option"
            aria-selected=${index === at}
            onPointerDown=${(/** @type {Event} */ event) => (event.preventDefault(), onPick(item))}
          >
            <${Icon} name=${item.kind === "folder" ? "folder" : "file"} /><span>${item.name}</span
            ><small>${item.path}</small>
          </li>`,
      )}
    </ul>
    ${!items.length && html`<p class="quiet">${text("chat.mentions_none")}</p>`}
  </div>`;
}

/** @param {string} words @param {AbortSignal} abort */
async function find(words, abort) {
  const query = words.trim();
  if (!query) return (await get("/api/drive/recent", { limit: MOST }, { signal: abort })).items;
  const { items } = await get("/api/drive/search", { q: query, mode: "name", limit: MOST }, { signal: abort });
  return items.map((/** @type {any} */ hit) => hit.file);
}
