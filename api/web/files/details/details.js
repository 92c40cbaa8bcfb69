/** What is known of an item: facts, who has access, how it can be searched, and what was done with it. */

import { get } from "../../shared/api/request.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { Failure, Loading } from "../../shared/components/states.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { clockTime, moment, size } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { ItemActivity } from "./item_activity.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/details.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"Item">} Item */
/** @typedef {import("../../shared/api/types.js").Schema<"ItemIndexResult">} Index */
/** @typedef {import("../../shared/api/types.js").Schema<"ShareResult">} Share */

/** Show what is known of an item. @param {{id: string, name: string}} item */
export async function openDetails(item) {
  await showDialog((close) => html`<${Details} item=${item} onClose=${close} />`);
}

/** @param {{item: {id: string, name: string}, onClose: () => void}} properties */
function Details({ item, onClose }) {
  const path = `/api/drive/items/${encodeURIComponent(item.id)}`;
  const { value, error, load } = useAnswer(path);
  const draw = () => {
    if (error) return html`<${Failure} error=${error} onRetry=${load} />`;
    if (!value) return html`<${Loading} />`;
    return html`<${Facts} item=${value} />
      <${IndexState} path=${`${path}/index`} />
      <${WhoHasAccess} path=${`${path}/shares`} />
      <${ItemActivity} itemId=${item.id} />`;
  };
  return html`<${Dialog} title=${text("facts.title", { name: item.name })} class="details" onClose=${onClose}>
    ${draw()}
  <//>`;
}

/** @param {{item: Item}} properties */
function Facts({ item }) {
  const isFile = item.kind === "file";
  /** @type {Array<[string, any]>} */
  const facts = [
    ["path", html`<bdi>${item.path}</bdi>`],
    ["type", isFile ? item.media_type : text("facts.folder")],
    ["size", isFile ? size(item.size) : ""],
    ["contents", isFile ? "" : text("facts.items", { count: item.child_count ?? 0 })],
    ["owner", item.owner],
    ["created", moment(item.created_at)],
    ["changed", moment(item.modified_at)],
    ["changed_here", moment(item.updated_at) === moment(item.modified_at) ? "" : moment(item.updated_at)],
    ["versions", isFile ? item.version.toLocaleString() : ""],
    ["trashed", item.trashed_at ? moment(item.trashed_at) : ""],
  ];
  return html`<dl class="item-facts">
    ${facts
      .filter(([, value]) => value)
      .map(
        ([name, value]) =>
          html`<div key=${name}>
            <dt>${text(`facts.${name}`)}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;
}

/** How it can be searched, and what its reader learned of a photo. @param {{path: string}} properties */
function IndexState({ path }) {
  const { value } = useAnswer(path);
  if (!value?.sentence) return null;
  const awaitsOcr = value.index_state === "needs_ocr";
  const omissions = awaitsOcr ? [] : value.omissions;
  const hint = omissions.length || value.index_state === "ready" ? "" : value.hint;
  return html`<${Photo} properties=${Object.entries(value.properties)} />
    <section>
      <h3>${text("facts.search")}</h3>
      <p>${value.sentence}</p>
      ${
        omissions.length > 0 &&
        html`<ul>
          ${omissions.map((/** @type {any} */ one) => html`<li key=${one.kind}>${one.text}</li>`)}
        </ul>`
      }
      ${hint && html`<p class="quiet">${hint}</p>`}
    </section>`;
}

/** @param {{properties: [string, string][]}} properties */
function Photo({ properties }) {
  if (!properties.length) return null;
  return html`<section>
    <h3>${text("facts.photo")}</h3>
    <dl class="item-facts">
      ${properties.map(
        ([name, words]) =>
          html`<div key=${name}>
            <dt>${text(`facts.${name}`)}</dt>
            <dd>${name === "taken_at" ? clockTime(words) : words}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

/** Who has access; those who may not know see nothing. @param {{path: string}} properties */
function WhoHasAccess({ path }) {
  const { value } = useAnswer(path);
  if (!value) return null;
  /** @type {Share[]} */
  const shares = value.items;
  const named = (/** @type {Share} */ share) =>
    share.kind === "link" ? text("facts.link") : (share.email ?? "").replace(/^group:/, "");
  return html`<section>
    <h3>${text("facts.access")}</h3>
    ${
      shares.length
        ? html`<ul>
            ${shares.map(
              (share) =>
                html`<li key=${share.id}>
                  <bdi>${named(share)}</bdi> <span class="quiet">${text(`facts.role.${share.role}`)}</span>
                </li>`,
            )}
          </ul>`
        : html`<p class="quiet">${text("facts.nobody")}</p>`
    }
  </section>`;
}

/** @param {string} path */
function useAnswer(path) {
  const [value, setValue] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    setError(null);
    get(path).then(setValue, setError);
  };
  useEffect(load, [path]);
  return { value, error, load };
}
