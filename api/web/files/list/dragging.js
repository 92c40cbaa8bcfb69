/** Items that are dragged, within the page and from outside of it. */

import { notifyProblem } from "../../shared/components/notices.js";
import { isCommand } from "../../shared/keys.js";
import { signal } from "../../shared/preact.js";
import { onItems } from "../actions/bulk.js";
import { chosenItems, selection } from "./selection/chosen.js";
import { only } from "./selection/selection.js";

/** @typedef {import("./items/ordering.js").Item} Item */

/** The type by which the rest of the page knows dragged items: JSON of `{id, kind, name}` each. */
const ITEMS_TYPE = "application/x-drive-items";

/** @type {Item[]} */
let dragged = [];

/** Whether items are dragged: then the way to the folder is shown, as they may go there. */
export const isDragging = signal(false);

/** @param {DragEvent} event @param {Item | undefined} item */
function beginDrag(event, item) {
  if (!item || !event.dataTransfer) return;
  if (!selection.peek().chosen.has(item.id)) selection.value = only(item.id);
  dragged = chosenItems.value;
  const told = dragged.map(({ id, kind, name }) => ({ id, kind, name }));
  event.dataTransfer.setData(ITEMS_TYPE, JSON.stringify(told));
  event.dataTransfer.setData("text/plain", told.map((one) => one.name).join("\n"));
  event.dataTransfer.effectAllowed = "copyMove";
  // A browser gives a drag up if the page changes while it begins.
  setTimeout(() => (isDragging.value = dragged.length > 0));
}

function endDrag() {
  dragged = [];
  isDragging.value = false;
}

/** Say whether what is dragged may be dropped on a folder. @param {DragEvent} event @param {string} folderId */
function fits(event, folderId) {
  const types = event.dataTransfer?.types ?? [];
  if (types.includes("Files")) return true;
  return (
    types.includes(ITEMS_TYPE) &&
    dragged.length > 0 &&
    dragged.every((item) => item.id !== folderId && (item.parent_id !== folderId || isCommand(event)))
  );
}

/**
 * Show where it would go, and how. Returns whether it may be dropped there.
 * @param {DragEvent} event
 * @param {string} folderId
 */
export function dragOver(event, folderId) {
  if (!event.dataTransfer || !fits(event, folderId)) return false;
  event.preventDefault();
  event.stopPropagation();
  const isCopy = event.dataTransfer.types.includes("Files") || isCommand(event);
  event.dataTransfer.dropEffect = isCopy ? "copy" : "move";
  return true;
}

/** @param {DragEvent} event @param {string} folderId */
export async function drop(event, folderId) {
  if (!event.dataTransfer || !fits(event, folderId)) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.dataTransfer.types.includes("Files")) {
    await dropFiles(event.dataTransfer, folderId).catch(notifyProblem);
    return;
  }
  const items = dragged;
  endDrag();
  await onItems(isCommand(event) ? "copy" : "move", items, { parentId: folderId });
}

/** @param {DataTransfer} transfer @param {string} folderId */
async function dropFiles(transfer, folderId) {
  // What is dropped is gone after the event, and the module may have to be loaded: so it is held from now on.
  const items = [...transfer.items].map((item) => {
    const [entry, file] = [item.webkitGetAsEntry?.() ?? null, item.getAsFile()];
    return { kind: item.kind, type: item.type, webkitGetAsEntry: () => entry, getAsFile: () => file };
  });
  const held = /** @type {DataTransfer} */ (/** @type {unknown} */ ({ items }));
  const { uploadDropped } = await import("../uploads/uploads.js");
  await uploadDropped(held, folderId);
}

/** @param {Element} element @param {boolean} isTarget */
function show(element, isTarget) {
  element.classList.toggle("drop-target", isTarget);
}

/**
 * Return the handlers of what stands for a folder.
 * @param {string} folderId
 * @param {(event: DragEvent) => void} [onDrop] instead of moving there
 */
export function dropTarget(folderId, onDrop = (event) => void drop(event, folderId)) {
  return {
    onDragOver: (/** @type {DragEvent} */ event) =>
      show(/** @type {Element} */ (event.currentTarget), dragOver(event, folderId)),
    onDragLeave: (/** @type {DragEvent} */ event) => show(/** @type {Element} */ (event.currentTarget), false),
    onDrop: (/** @type {DragEvent} */ event) => {
      show(/** @type {Element} */ (event.currentTarget), false);
      onDrop(event);
    },
  };
}

/** Do something with what is dragged that is no move, such as starring it. @param {DragEvent} event @param {"trash" | "star"} action */
export function dropAction(event, action) {
  event.preventDefault();
  const items = dragged;
  endDrag();
  if (items.length) void onItems(action, items);
}

/** The handlers of a list: rows that are folders take what is dropped on them, else the folder that is shown does. @param {import("./items/listing.js").Listing} listing */
export function listDragging(listing) {
  /** @type {Element | null} */
  let marked = null;
  const markOnly = (/** @type {Element | null} */ element) => {
    if (marked === element) return;
    if (marked) show(marked, false);
    if (element) show(element, true);
    marked = element;
  };
  const target = (/** @type {DragEvent} */ event) => {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-index]"));
    const item = row ? listing.items.peek()[Number(row.dataset.index)] : undefined;
    if (item?.kind === "folder" && !item.trashed_at) return { id: item.id, element: row };
    return listing.kind === "folder"
      ? { id: listing.folderId, element: /** @type {Element} */ (event.currentTarget) }
      : null;
  };
  return {
    onDragStart: (/** @type {DragEvent} */ event) => {
      const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-index]"));
      beginDrag(event, row ? listing.items.peek()[Number(row.dataset.index)] : undefined);
    },
    onDragEnd: endDrag,
    onDragOver: (/** @type {DragEvent} */ event) => {
      const to = target(event);
      markOnly(to && dragOver(event, to.id) ? to.element : null);
    },
    onDragLeave: (/** @type {DragEvent} */ event) => {
      const to = /** @type {Node | null} */ (event.relatedTarget);
      if (!to || !(/** @type {Element} */ (event.currentTarget).contains(to))) markOnly(null);
    },
    onDrop: (/** @type {DragEvent} */ event) => {
      const to = target(event);
      markOnly(null);
      if (to) void drop(event, to.id);
    },
  };
}
