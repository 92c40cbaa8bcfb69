/** What the mouse, a pen or a finger does in a list. */

import { openMenu } from "../../shared/components/menus.js";
import { isCommand } from "../../shared/keys.js";
import { text } from "../../shared/texts/texts.js";
import { openItem } from "../actions/operations.js";
import { menuOf } from "../actions/registry.js";
import { folderMenu } from "../actions/folder_menu.js";
import { chosenItems, selection } from "./selection/chosen.js";
import { NONE, cleared, extended, only, toggled } from "./selection/selection.js";

/** @typedef {import("./items/listing.js").Listing} Listing */

const LONG_PRESS_MS = 500;
const SLACK = 10;

/**
 * Return the handlers of a list.
 * @param {Listing} listing
 */
export function pointerHandlers(listing) {
  const press = { isTouch: false, wasLong: false, x: 0, y: 0, timer: 0 };
  const endPress = () => clearTimeout(press.timer);
  return {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      const row = rowOf(event);
      press.isTouch = event.pointerType === "touch";
      press.wasLong = false;
      // A finger that rests chooses: it must not begin to drag.
      if (row) row.draggable = !press.isTouch && !isField(event);
      if (!press.isTouch || !row) return;
      Object.assign(press, { x: event.clientX, y: event.clientY });
      press.timer = setTimeout(() => {
        press.wasLong = true;
        longPress(listing, row, press);
      }, LONG_PRESS_MS);
    },
    onPointerMove: (/** @type {PointerEvent} */ event) => {
      if (Math.hypot(event.clientX - press.x, event.clientY - press.y) > SLACK) endPress();
    },
    onPointerUp: endPress,
    onPointerCancel: endPress,
    onClick: (/** @type {MouseEvent} */ event) => {
      if (press.wasLong || isField(event)) return;
      click(listing, event, press.isTouch);
    },
    onDblClick: (/** @type {MouseEvent} */ event) => {
      const item = itemAt(listing, rowOf(event));
      if (item && !press.isTouch && !["check", "more", "name"].includes(partOf(event)) && !isField(event)) {
        openItem(item);
      }
    },
    onContextMenu: (/** @type {MouseEvent} */ event) => {
      if (isField(event)) return;
      event.preventDefault();
      if (!press.isTouch) contextMenu(listing, rowOf(event), { x: event.clientX, y: event.clientY });
    },
  };
}

/** @param {Event} event @returns {HTMLElement | null} */
const rowOf = (event) => /** @type {Element} */ (event.target).closest("[data-index]");

/** @param {Event} event */
const partOf = (event) =>
  /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-part]"))?.dataset.part ?? "";

/** @param {Event} event */
const isField = (event) => event.target instanceof HTMLInputElement;

/** @param {Listing} listing @param {HTMLElement | null} row */
const itemAt = (listing, row) => (row ? listing.items.peek()[Number(row.dataset.index)] : undefined);

/** @param {Listing} listing @param {MouseEvent} event @param {boolean} isTouch */
function click(listing, event, isTouch) {
  const row = rowOf(event);
  const item = itemAt(listing, row);
  if (!item || !row) {
    if (!(/** @type {Element} */ (event.target).closest("[role=columnheader]"))) {
      selection.value = cleared(selection.peek());
    }
    return;
  }
  const part = partOf(event);
  if (part === "more") return contextMenu(listing, row, row.querySelector("[data-part=more]") ?? row);
  const isChoosing = part === "check" || isCommand(event) || (isTouch && selection.peek().chosen.size > 0);
  if (event.shiftKey) selection.value = extended(selection.peek(), idsOf(listing), item.id);
  else if (isChoosing) selection.value = toggled(selection.peek(), item.id);
  else if (isTouch || part === "name") openItem(item);
  else selection.value = only(item.id);
}

/** A finger that rests on an item chooses it; on one that is chosen, it opens the menu. @param {Listing} listing @param {HTMLElement} row @param {{x: number, y: number}} point */
function longPress(listing, row, point) {
  const item = itemAt(listing, row);
  if (!item) return;
  if (selection.peek().chosen.has(item.id)) contextMenu(listing, row, point);
  else selection.value = toggled(selection.peek(), item.id);
}

/**
 * Open the menu of an item, or of all that are chosen if it is one of them; of the folder if there is none.
 * @param {Listing} listing
 * @param {HTMLElement | null} row
 * @param {Element | {x: number, y: number}} at
 */
export function contextMenu(listing, row, at) {
  const item = itemAt(listing, row);
  if (!item) {
    selection.value = NONE;
    const items = folderMenu(listing);
    if (items.length) openMenu(at, items, text("files.actions_here"));
    return;
  }
  if (!selection.peek().chosen.has(item.id)) selection.value = only(item.id);
  const items = chosenItems.value;
  const label =
    items.length > 1 ? text("files.chosen", { count: items.length }) : text("files.actions_of", { name: item.name });
  openMenu(at, menuOf(items, listing.kind), label);
}

/** @param {Listing} listing */
export const idsOf = (listing) => listing.items.peek().map((item) => item.id);
