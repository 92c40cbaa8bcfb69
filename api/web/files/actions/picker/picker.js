/** The dialog in which one chooses a folder: to move or copy to, or as the target of a call that waits. */

import { get, getAll } from "../../../shared/api/request.js";
import { Button } from "../../../shared/components/button.js";
import { Dialog, ask, showDialog } from "../../../shared/components/dialogs.js";
import { notifyProblem } from "../../../shared/components/notices.js";
import { html, useEffect, useState } from "../../../shared/preact.js";
import { me } from "../../../shared/session.js";
import { loadStyles } from "../../../shared/styles/load.js";
import { compareNames } from "../../../shared/texts/format.js";
import { loadTexts, text } from "../../../shared/texts/texts.js";
import { ancestorsOf } from "../../navigation/ancestors.js";
import { listing } from "../../list/items/shown.js";
import { change, remember } from "../own_changes.js";
import { FolderTree } from "./folder_tree.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/picker.css")]);

/** @typedef {import("../../list/items/ordering.js").Item} Item */
/** @typedef {{folders: Map<string, Item>, children: Map<string, string[]>, open: Set<string>, chosen: string}} Tree */

/**
 * Let the person choose; answers the folder's id, undefined if they cancel.
 * @param {Item[]} items what is to go there
 * @param {"move" | "copy"} action
 * @returns {Promise<string | undefined>}
 */
export function pickFolder(items, action) {
  return showDialog(
    (close) =>
      html`<${Picker}
        title=${text(`picker.${action}`, { count: items.length, name: items[0].name })}
        accept=${text(`picker.${action}_here`)}
        barred=${items.map((item) => item.id)}
        isHere=${(/** @type {string} */ id) => action === "move" && items.every((item) => item.parent_id === id)}
        close=${close}
      />`,
  );
}

/**
 * Let the person choose a folder for something else; answers its id, undefined if they cancel.
 * @param {Item | null} at the folder that is chosen at first
 * @param {string[]} barred ids of folders that can't be chosen, nor what is in them
 * @returns {Promise<string | undefined>}
 */
export function chooseFolder(at, barred) {
  return showDialog(
    (close) =>
      html`<${Picker}
        title=${text("picker.choose")}
        accept=${text("picker.choose_this")}
        barred=${barred}
        at=${at}
        close=${close}
      />`,
  );
}

/**
 * @param {{title: string, accept: string, barred: string[], isHere?: (id: string) => boolean, at?: Item | null,
 *   close: (id?: string) => void}} properties `isHere` says whether all lies in a folder already
 */
function Picker({ title, accept, barred, isHere = () => false, at = null, close }) {
  const [tree, setTree] = useState(/** @type {Tree | null} */ (null));
  useEffect(() => void begin(at).then(setTree, notifyProblem), []);
  const isRefused = !tree || isHere(tree.chosen) || barred.includes(tree.chosen);
  const update = (/** @type {(now: Tree) => Tree} */ next) => setTree((now) => now && next(now));
  const show = async (/** @type {string} */ id, /** @type {Partial<Tree>} */ facts = {}) => {
    try {
      const found = await foldersIn(id);
      update((now) => ({ ...opened(withChildren(now, id, found), id, true), ...facts }));
    } catch (problem) {
      notifyProblem(problem);
    }
  };
  const toggle = (/** @type {string} */ id, /** @type {boolean} */ isOpen) =>
    isOpen && !tree?.children.has(id) ? void show(id) : update((now) => opened(now, id, isOpen));
  const make = async () => {
    if (!tree) return;
    const made = await newFolder(tree.chosen);
    if (made) await show(tree.chosen, { chosen: made });
  };
  return html`<${Dialog}
    title=${title}
    onClose=${() => close()}
    class="picker"
    footer=${html`<${Button} icon="plus" class="picker-new" disabled=${!tree} onClick=${make}>${text("picker.new")}<//>
      <${Button} onClick=${() => close()}>${text("shared.cancel")}<//>
      <${Button} kind="main" disabled=${isRefused} onClick=${() => close(tree?.chosen)}>${accept}<//>`}
  >
    ${
      tree &&
      html`<${FolderTree}
        tree=${tree}
        barred=${new Set(barred)}
        onToggle=${toggle}
        onChoose=${(/** @type {string} */ chosen) => update((now) => ({ ...now, chosen }))}
        onAccept=${() => !isRefused && close(tree.chosen)}
      />`
    }
  <//>`;
}

/** The tree as it is at first: open down to a folder, or to the one that is shown. @param {Item | null} at */
async function begin(at) {
  const root = await get("/api/drive/items/root");
  const here = at ?? listing.peek()?.folder.peek() ?? root;
  const way = here.owner === me.value?.email ? [...(await ancestorsOf(here)), here] : [root];
  /** @type {Tree} */
  let tree = {
    folders: new Map(way.map((folder) => [folder.id, folder])),
    children: new Map(),
    open: new Set(way.map((folder) => folder.id)),
    chosen: way[way.length - 1].id,
  };
  const found = await Promise.all(way.map((folder) => foldersIn(folder.id)));
  way.forEach((folder, index) => (tree = withChildren(tree, folder.id, found[index])));
  return tree;
}

/** @param {Tree} tree @param {string} id @param {boolean} isOpen @returns {Tree} */
function opened(tree, id, isOpen) {
  const open = new Set(tree.open);
  if (isOpen) open.add(id);
  else open.delete(id);
  return { ...tree, open };
}

/** @param {Tree} tree @param {string} id @param {Item[]} found @returns {Tree} */
function withChildren(tree, id, found) {
  const folders = new Map(tree.folders);
  for (const folder of found) folders.set(folder.id, folder);
  return {
    ...tree,
    folders,
    children: new Map(tree.children).set(
      id,
      found.map((folder) => folder.id),
    ),
  };
}

/** The service lists folders before files: what follows the first file need not be asked for. @param {string} id @returns {Promise<Item[]>} */
async function foldersIn(id) {
  const end = new AbortController();
  /** @type {Item[]} */
  let seen = [];
  const see = (/** @type {Item[]} */ items) => {
    seen = items;
    if (items.some((item) => item.kind === "file")) end.abort();
  };
  await getAll(`/api/drive/items/${id}/children`, { limit: 500 }, see, end.signal).catch((problem) => {
    if (!end.signal.aborted) throw problem;
  });
  return seen.filter((item) => item.kind === "folder").sort((a, b) => compareNames(a.name, b.name));
}

/** @param {string} parentId @returns {Promise<string | undefined>} */
async function newFolder(parentId) {
  const name = await ask({ title: text("picker.new"), label: text("picker.name"), action: text("picker.create") });
  if (!name) return undefined;
  try {
    const json = { kind: "folder", name, parent_id: parentId };
    const { result, changeId } = await change("POST", "/api/drive/items", { json });
    remember([changeId]);
    listing.peek()?.take([result]);
    return result.id;
  } catch (problem) {
    notifyProblem(problem);
    return undefined;
  }
}
