/** What the keys do in a list. */

import { isCommand, isComposing } from "../../shared/keys.js";
import { goToFolder } from "../../shared/location.js";
import { signal } from "../../shared/preact.js";
import { openItem, paste, take } from "../actions/operations.js";
import { act } from "../actions/registry.js";
import { redoLast, undoLast } from "../actions/reversal.js";
import { contextMenu, idsOf } from "./pointer.js";
import { elementId } from "./row.js";
import { chosenItems, clipboard, selection } from "./selection/chosen.js";
import { all, at, cleared, extended, only, toggled } from "./selection/selection.js";
import { Typeahead } from "./selection/typeahead.js";

/** @typedef {import("./items/listing.js").Listing} Listing */
/** @typedef {{columns: number, page: number}} Steps how many items a line and a page have */

/** The item that the keyboard went to: it has to be in view. */
export const revealed = signal(/** @type {number | null} */ (null));
/** Whether the list that comes next takes the focus, as the keyboard led to it. */
export const focusNext = signal(false);

/** Keys that mean the same in the whole page. */
const GLOBAL = new Set(["/", "?"]);

const typeahead = new Typeahead();

/**
 * Handle a key; the list has the focus, or nothing has.
 * @param {KeyboardEvent} event
 * @param {Listing} listing
 * @param {Steps} steps
 */
export function pressKey(event, listing, steps) {
  if (isComposing(event)) return;
  const isDone = isCommand(event)
    ? pressCommand(event, listing)
    : pressMove(event, listing, steps) || pressPlain(event, listing);
  if (isDone) typeahead.forget();
  if (isDone || (!isCommand(event) && pressLetter(event, listing))) event.preventDefault();
}

/** @param {KeyboardEvent} event @param {Listing} listing */
function pressCommand(event, listing) {
  const key = event.key.toLowerCase();
  /** @type {Record<string, () => unknown>} */
  const commands = {
    a: () => (selection.value = all(selection.peek(), idsOf(listing))),
    c: () => take(meant(listing), false),
    x: () => take(meant(listing), true),
    v: () => listing.kind === "folder" && paste(listing.folderId),
    z: () => (event.shiftKey ? redoLast() : undoLast()),
    y: redoLast,
    " ": () => toggleActive(listing),
    enter: () => act("open", meant(listing), listing.kind),
  };
  const run = commands[key];
  run?.();
  return Boolean(run);
}

/** @param {KeyboardEvent} event @param {Listing} listing @param {Steps} steps */
function pressMove(event, listing, steps) {
  const items = listing.items.peek();
  const from = activeIndex(listing);
  const last = items.length - 1;
  if (event.altKey) return event.key === "ArrowUp" && up(listing);
  const by = { ArrowDown: steps.columns, ArrowUp: -steps.columns, PageDown: steps.page, PageUp: -steps.page }[
    event.key
  ];
  const side = steps.columns > 1 ? { ArrowRight: 1, ArrowLeft: -1 }[event.key] : undefined;
  const edge = { Home: 0, End: last }[event.key];
  const step = by ?? side;
  if ((step === undefined && edge === undefined) || !items.length) return false;
  const to = edge ?? (from < 0 ? 0 : Math.min(last, Math.max(0, from + /** @type {number} */ (step))));
  goTo(listing, to, event.shiftKey);
  return true;
}

/** @param {Listing} listing @param {number} index @param {boolean} [isRange] */
function goTo(listing, index, isRange = false) {
  const { id } = listing.items.peek()[index];
  selection.value = isRange ? extended(selection.peek(), idsOf(listing), id) : only(id);
  revealed.value = index;
}

/** @param {KeyboardEvent} event @param {Listing} listing */
function pressPlain(event, listing) {
  if (event.key === " " && typeahead.isTyping(event.timeStamp)) return false;
  /** @type {Record<string, () => unknown>} */
  const keys = {
    Enter: () => open(listing),
    F2: () => act("rename", meant(listing), listing.kind),
    Delete: () => act(listing.kind === "trash" ? "delete" : "trash", meant(listing), listing.kind),
    Escape: escape,
    Backspace: () => up(listing),
    " ": () => toggleActive(listing),
    ContextMenu: () => menuAtActive(listing),
  };
  const run = event.key === "F10" && event.shiftKey ? keys.ContextMenu : keys[event.key];
  run?.();
  return Boolean(run);
}

/** @param {KeyboardEvent} event @param {Listing} listing */
function pressLetter(event, listing) {
  if (event.key.length !== 1 || event.altKey || GLOBAL.has(event.key)) return false;
  const found = typeahead.find(event.key, listing.items.peek(), activeIndex(listing), event.timeStamp);
  if (found >= 0) goTo(listing, found);
  return true;
}

/** What a key is meant for: what is chosen, else where the keyboard is. @param {Listing} listing */
function meant(listing) {
  if (chosenItems.value.length) return chosenItems.value;
  const active = listing.items.peek()[activeIndex(listing)];
  return active ? [active] : [];
}

/** @param {Listing} listing */
export const activeIndex = (listing) => listing.items.peek().findIndex((item) => item.id === selection.peek().active);

/** @param {Listing} listing */
function open(listing) {
  const item = listing.items.peek()[activeIndex(listing)] ?? chosenItems.value[0];
  if (!item) return;
  focusNext.value = item.kind === "folder" && !item.trashed_at;
  openItem(item);
}

/** @param {Listing} listing */
function up(listing) {
  const parent = listing.folder.peek()?.parent_id;
  if (parent) {
    focusNext.value = true;
    goToFolder(parent);
  }
  return true;
}

/** @param {Listing} listing */
function toggleActive(listing) {
  const { active, chosen } = selection.peek();
  const id = active ?? listing.items.peek()[0]?.id;
  if (id) selection.value = chosen.has(id) ? at(toggled(selection.peek(), id), id) : toggled(selection.peek(), id);
}

function escape() {
  selection.value = cleared(selection.peek());
  clipboard.value = null;
}

/** @param {Listing} listing */
function menuAtActive(listing) {
  const item = listing.items.peek()[activeIndex(listing)];
  const row = item ? document.getElementById(elementId(item.id)) : null;
  const list = document.querySelector(".items");
  if (row || list) contextMenu(listing, row, /** @type {Element} */ (row?.querySelector(".name") ?? row ?? list));
}
