/** What a call is done to: each item with its path, what becomes of it, and whose it is. */

import { get } from "../../shared/api/request.js";
import { Icon } from "../../shared/components/icon.js";
import { href } from "../../shared/location.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { me } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";

const FIRST = 5;

/** @param {{lines: string[], action: import("./card.js").Action}} properties `lines` of the preview, in the order of the items */
export function Targets({ lines, action }) {
  const [all, setAll] = useState(false);
  if (!lines.length) return null;
  const items = action.effect?.items ?? [];
  const shown = all ? lines : lines.slice(0, FIRST);
  return html`<ul class="approval-targets">
    ${shown.map((line, index) => html`<${Target} key=${index} line=${line} item=${items[index]} />`)}
    ${
      shown.length < lines.length &&
      html`<li>
        <button type="button" class="as-link" onClick=${() => setAll(true)}>
          ${text("approval.all_items", { count: lines.length })}
        </button>
      </li>`
    }
  </ul>`;
}

/** Divide a line of the preview into the item and what becomes of it. @param {string} line @param {any} item */
function divided(line, item) {
  const path = item?.path || item?.name || "";
  if (!path || !line.startsWith(path)) return { name: line, what: "" };
  return { name: path, what: line.slice(path.length).replace(/^: /, "") };
}

/** @param {{line: string, item: any}} properties the item is missing where the service names no more of them */
function Target({ line, item }) {
  const { name, what } = divided(line, item);
  const isFolder = item?.kind === "folder";
  const place = item?.id && href([isFolder ? "folder" : "file", item.id]);
  return html`<li>
    <${Icon} name=${isFolder ? "folder" : "file"} />
    ${place ? html`<a href=${place}><bdi>${name}</bdi></a>` : html`<bdi>${name}</bdi>`}
    ${what && html`<span class="approval-what" dir="auto">${what}</span>`}
    ${item?.id && html`<${Owner} id=${item.id} />`}
  </li>`;
}

/** Whose an item is, if it is not the person's own; nothing for what is not there yet. @param {{id: string}} properties */
function Owner({ id }) {
  const [owner, setOwner] = useState("");
  useEffect(() => {
    get(`/api/drive/items/${encodeURIComponent(id)}`).then(
      (item) => setOwner(item.owner ?? ""),
      () => setOwner(""),
    );
  }, [id]);
  if (!owner) return null;
  return owner === me.value?.email
    ? html`<span class="quiet">${text("approval.own")}</span>`
    : html`<span class="approval-owner">${text("approval.owner", { owner })}</span>`;
}
