/** Files and folders of a result, as rows that open them. */

import { Icon } from "../../shared/components/icon.js";
import { goToFile, goToFolder } from "../../shared/location.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("./results.js").ResultItem} ResultItem */

const FIRST = 5;

/** @param {{items: ResultItem[]}} properties */
export function ItemRows({ items }) {
  const [all, setAll] = useState(false);
  if (!items.length) return null;
  const shown = all ? items : items.slice(0, FIRST);
  return html`<ul class="found">
    ${shown.map((item) => html`<li key=${item.id}><${Row} item=${item} /></li>`)}
    ${
      shown.length < items.length &&
      html`<li>
        <button type="button" class="found-item quiet" onClick=${() => setAll(true)}>
          ${text("chat.more_items", { count: items.length - shown.length })}
        </button>
      </li>`
    }
  </ul>`;
}

/** @param {{item: ResultItem}} properties */
function Row({ item }) {
  const { id, kind, name, path, version, start, end, place } = item;
  const open = () => (kind === "folder" ? goToFolder(id) : goToFile(id, { version, start, end, place }));
  return html`<button type="button" class="found-item" onClick=${open} title=${path}>
    <${Icon} name=${kind === "folder" ? "folder" : "file"} /><span>${name}</span>
  </button>`;
}
