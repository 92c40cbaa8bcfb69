/** The versions of a file: who wrote which when, what is different, and back to an earlier one. */

import { get, post } from "../../shared/api/request.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { Failure, Loading } from "../../shared/components/states.js";
import { goToFile } from "../../shared/location.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Comparison } from "./comparison.js";
import { VersionRow } from "./version_row.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/versions.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"Version">} Version */
/** @typedef {{id: string, name: string}} File */

const PAGE = 200;

/** Show the versions of a file. @param {File} item */
export async function openVersions(item) {
  await showDialog((close) => html`<${Versions} item=${item} onClose=${close} />`);
}

/** @param {{item: File, onClose: () => void}} properties */
function Versions({ item, onClose }) {
  const [versions, setVersions] = useState(/** @type {Version[]} */ ([]));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  /** Compared are an older and a newer one. */
  const [pair, setPair] = useState(/** @type {[number, number] | null} */ (null));
  const load = () => {
    setError(null);
    versionsOf(item.id).then(setVersions, setError);
  };
  useEffect(load, [item.id]);
  const show = (/** @type {Version} */ version) => {
    onClose();
    goToFile(item.id, version.current ? {} : { version: version.number });
  };
  const restore = async (/** @type {Version} */ version) => {
    if (await bringBack(item, version.number)) load();
  };
  const row = (/** @type {Version} */ version) =>
    html`<${VersionRow}
      key=${version.number}
      version=${version}
      newest=${versions[0].number}
      onCompare=${setPair}
      onShow=${show}
      onRestore=${restore}
    />`;
  const title = text("versions.title", { name: item.name });
  const draw = () => {
    if (error) return html`<${Failure} error=${error} onRetry=${load} />`;
    if (!versions.length) return html`<${Loading} />`;
    if (pair)
      return html`<${Comparison} fileId=${item.id} pair=${pair} count=${versions[0].number} onChange=${setPair} />`;
    return html`<ol class="versions" aria-label=${title}>
      ${versions.map(row)}
    </ol>`;
  };
  return html`<${Dialog} title=${title} class="wide" onClose=${onClose}>${draw()}<//>`;
}

/** @param {string} id @returns {Promise<Version[]>} */
async function versionsOf(id) {
  /** @type {Version[]} */
  let versions = [];
  let cursor;
  do {
    const page = await get(`/api/drive/files/${id}/versions`, { cursor, limit: PAGE });
    versions = versions.concat(page.items);
    cursor = page.cursor;
  } while (cursor);
  return versions;
}

/**
 * Make an earlier version the newest one, with a way back.
 * @param {File} item
 * @param {number} number
 */
async function bringBack(item, number) {
  try {
    const before = await get(`/api/drive/items/${item.id}`);
    await post(`/api/drive/files/${item.id}/versions/${number}/restore`, undefined, { ifMatch: before.etag });
    const undo = () => bringBack(item, before.version);
    notify(text("versions.restored", { number }), { action: { title: text("versions.undo"), run: undo } });
    return true;
  } catch (error) {
    notifyProblem(error);
    return false;
  }
}
