/** Folders as a tree, by the pattern of WAI-ARIA: one stop for Tab, arrows within. */

import { Icon } from "../../../shared/components/icon.js";
import { html, useEffect, useRef } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";

/** @typedef {import("./picker.js").Tree} Tree */
/** @typedef {{id: string, level: number, name: string, isOpen: boolean, isLeaf: boolean, parent: string | null}} Line */

/**
 * Return the lines that are seen, from the top.
 * @param {Tree} tree
 * @param {ReadonlySet<string>} barred folders that can't be chosen, nor what is in them
 * @returns {Line[]}
 */
export function linesOf(tree, barred) {
  /** @type {Line[]} */
  const lines = [];
  const add = (/** @type {string} */ id, /** @type {number} */ level, /** @type {string | null} */ parent) => {
    const isOpen = tree.open.has(id);
    const children = (tree.children.get(id) ?? []).filter((child) => !barred.has(child));
    const isLeaf = tree.children.has(id) && !children.length;
    lines.push({ id, level, name: tree.folders.get(id)?.name ?? "", isOpen, isLeaf, parent });
    if (isOpen) for (const child of children) add(child, level + 1, id);
  };
  const [root] = tree.folders.keys();
  add(root, 1, null);
  return lines;
}

/**
 * @param {{tree: Tree, barred: ReadonlySet<string>, onToggle: (id: string, isOpen: boolean) => void,
 *   onChoose: (id: string) => void, onAccept: () => void}} properties
 */
export function FolderTree({ tree, barred, onToggle, onChoose, onAccept }) {
  const lines = linesOf(tree, barred);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const chosen = /** @type {HTMLElement | null | undefined} */ (list.current?.querySelector("[aria-selected=true]"));
    chosen?.focus();
    chosen?.scrollIntoView({ block: "nearest" });
  }, [tree.chosen]);
  const press = (/** @type {KeyboardEvent} */ event) => {
    const at = lines.findIndex((line) => line.id === tree.chosen);
    const run = at < 0 ? undefined : keys(lines, at, onToggle, onChoose, onAccept)[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  };
  return html`<ul ref=${list} class="folder-tree" role="tree" aria-label=${text("picker.folders")} onKeyDown=${press}>
    ${lines.map((line) => html`<${TreeLine} key=${line.id} line=${line} isChosen=${line.id === tree.chosen} onToggle=${onToggle} onChoose=${onChoose} />`)}
  </ul>`;
}

/**
 * @param {Line[]} lines
 * @param {number} at
 * @param {(id: string, isOpen: boolean) => void} onToggle
 * @param {(id: string) => void} onChoose
 * @param {() => void} onAccept
 * @returns {Record<string, () => void>}
 */
function keys(lines, at, onToggle, onChoose, onAccept) {
  const line = lines[at];
  const to = (/** @type {number} */ index) => lines[index] && onChoose(lines[index].id);
  return {
    ArrowDown: () => to(at + 1),
    ArrowUp: () => to(at - 1),
    Home: () => to(0),
    End: () => to(lines.length - 1),
    ArrowRight: () => (line.isOpen ? to(at + 1) : onToggle(line.id, true)),
    ArrowLeft: () => (line.isOpen ? onToggle(line.id, false) : line.parent && onChoose(line.parent)),
    Enter: onAccept,
  };
}

/** @param {{line: Line, isChosen: boolean, onToggle: (id: string, isOpen: boolean) => void, onChoose: (id: string) => void}} properties */
function TreeLine({ line, isChosen, onToggle, onChoose }) {
  const toggle = (/** @type {Event} */ event) => {
    event.stopPropagation();
    onToggle(line.id, !line.isOpen);
  };
  return html`<li
    role="treeitem"
    tabindex=${isChosen ? 0 : -1}
    aria-level=${line.level}
    aria-selected=${isChosen}
    aria-expanded=${line.isLeaf ? undefined : line.isOpen}
    style=${{ paddingInlineStart: `${(line.level - 1) * 1.25 + 0.25}rem` }}
    onClick=${() => onChoose(line.id)}
  >
    <span class="fold" onClick=${toggle}
      >${!line.isLeaf && html`<${Icon} name=${line.isOpen ? "expand" : "right"} />`}</span
    >
    <${Icon} name="folder" /><span>${line.name || text("picker.root")}</span>
  </li>`;
}
