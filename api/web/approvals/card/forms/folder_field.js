/** A folder, by its path: written, or chosen among the folders inside the one that is written. */

import { get } from "../../../shared/api/request.js";
import { html, useEffect, useId, useState } from "../../../shared/preact.js";

const MOST = 200;

/** @param {{about: Record<string, any>, value: string}} properties `value`: an id or a path */
export function FolderField({ about, value }) {
  const list = useId();
  const [path, setPath] = useState(value.startsWith("/") ? value : "");
  const [folders, setFolders] = useState(/** @type {string[]} */ ([]));
  const [before, setBefore] = useState(path);
  const show = (/** @type {string} */ found) => {
    setPath(found);
    setBefore(found);
  };
  useEffect(() => void look(value, show), [value]);
  const parent = path.slice(0, path.lastIndexOf("/")) || "/";
  useEffect(() => {
    inside(parent).then(setFolders, () => setFolders([]));
  }, [parent]);
  return html`<input
      type="text"
      list=${`folders${list}`}
      autocomplete="off"
      dir="auto"
      ...${about}
      value=${path}
      onInput=${(/** @type {Event} */ event) => setPath(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
    /><input type="hidden" name=${`${about.name}.before`} value=${before} /><datalist id=${`folders${list}`}>
      ${folders.map((one) => html`<option key=${one} value=${one}></option>`)}
    </datalist>`;
}

/** @param {string} id @param {(path: string) => void} tell */
async function look(id, tell) {
  if (!id || id.startsWith("/")) return;
  const item = await get(`/api/drive/items/${encodeURIComponent(id)}`).catch(() => null);
  if (item?.path) tell(item.path);
}

/** The paths of the folders in a folder. @param {string} path @returns {Promise<string[]>} */
async function inside(path) {
  const folder = path === "/" ? "root" : path;
  const { items } = await get(`/api/drive/items/${encodeURIComponent(folder)}/children?limit=${MOST}`);
  const folders = items.filter((/** @type {any} */ item) => item.kind === "folder");
  return folders.map((/** @type {any} */ item) => `${path === "/" ? "" : path}/${item.name}`);
}
