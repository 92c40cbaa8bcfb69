/** Menus at a button or under the pointer: opened from anywhere, drawn in one place (`MenuHost`, in the shell). */

import { html, signal, useLayoutEffect, useRef } from "../preact.js";
import { isComposing } from "../keys.js";
import { Icon } from "./icon.js";

/**
 * @typedef {object} MenuItem
 * @property {string} [title] without one: a line between groups
 * @property {string} [icon]
 * @property {string} [keys]
 * @property {boolean} [checked] of a choice: shown with a mark
 * @property {boolean} [isSwitch] it is chosen for itself, not in place of others
 * @property {boolean} [danger]
 * @property {boolean} [disabled]
 * @property {() => void} [run]
 */
/** @typedef {{items: MenuItem[], label: string, x: number, y: number, above: number, before: Element | null}} OpenMenu */

/** @type {import("../../vendor/signals.js").Signal<OpenMenu | null>} */
const open = signal(null);
const MARGIN = 8;

/**
 * Open a menu below an element, or at a point.
 * @param {Element | {x: number, y: number}} at
 * @param {MenuItem[]} items
 * @param {string} label what the menu is of, for who hears it
 */
export function openMenu(at, items, label) {
  const before = document.activeElement;
  if (at instanceof Element) {
    const box = at.getBoundingClientRect();
    open.value = { items, label, x: box.left, y: box.bottom + 4, above: box.top - 4, before };
  } else {
    open.value = { items, label, x: at.x, y: at.y, above: at.y, before };
  }
}

/** Close the menu; the focus goes back to where it was. */
export function closeMenu() {
  const before = open.peek()?.before;
  open.value = null;
  if (before instanceof HTMLElement && before.isConnected) before.focus();
}

/** Where the menu is drawn. A dialog that is open is above the page, so the menu is a popover: above both. */
export function MenuHost() {
  const menu = open.value;
  return menu && html`<${Menu} key=${menu} menu=${menu} />`;
}

/** @param {{menu: OpenMenu}} properties */
function Menu({ menu }) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const list = element.current;
    if (!list) return;
    list.showPopover();
    putInside(list, menu);
    entries(list)[0]?.focus();
  }, []);
  useLayoutEffect(() => {
    const leave = (/** @type {Event} */ event) => {
      if (!element.current?.contains(/** @type {Node} */ (event.target))) open.value = null;
    };
    const escape = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && stop(event, closeMenu);
    document.addEventListener("pointerdown", leave, true);
    document.addEventListener("keydown", escape, true);
    return () => {
      document.removeEventListener("pointerdown", leave, true);
      document.removeEventListener("keydown", escape, true);
    };
  }, []);
  return html`<div ref=${element} class="menu" role="menu" popover="manual" aria-label=${menu.label} onKeyDown=${move}>
    ${menu.items.map((item, index) => html`<${Entry} key=${index} item=${item} />`)}
  </div>`;
}

/** @param {{item: MenuItem}} properties */
function Entry({ item }) {
  if (!item.title) return html`<hr />`;
  const choose = () => {
    closeMenu();
    item.run?.();
  };
  const role = item.checked === undefined ? "menuitem" : item.isSwitch ? "menuitemcheckbox" : "menuitemradio";
  return html`<button
    type="button"
    role=${role}
    aria-checked=${item.checked}
    aria-disabled=${item.disabled || undefined}
    class=${item.danger ? "danger" : ""}
    tabindex="-1"
    onClick=${item.disabled ? undefined : choose}
  >
    <${Icon} name=${item.checked ? "check" : (item.icon ?? "")} class=${item.checked || item.icon ? "" : "blank"} />
    <span>${item.title}</span>${item.keys && html`<kbd>${item.keys}</kbd>`}
  </button>`;
}

/** @param {HTMLElement} list @returns {HTMLElement[]} */
const entries = (list) => [...list.querySelectorAll("button")];

/** @param {Event} event @param {() => void} action */
function stop(event, action) {
  event.preventDefault();
  event.stopPropagation();
  action();
}

/** @param {KeyboardEvent} event */
function move(event) {
  if (isComposing(event)) return;
  const list = entries(/** @type {HTMLElement} */ (event.currentTarget));
  const at = list.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const last = list.length - 1;
  const to = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
  if (to !== undefined) stop(event, () => list[to]?.focus());
  else if (event.key === "Tab") stop(event, closeMenu);
  else if (event.key.length === 1 && event.key !== " ") stop(event, () => startingWith(list, at, event.key)?.focus());
}

/** @param {HTMLElement[]} list @param {number} at @param {string} letter */
function startingWith(list, at, letter) {
  const turned = [...list.slice(at + 1), ...list.slice(0, at + 1)];
  return turned.find((entry) => entry.textContent?.trim().toLowerCase().startsWith(letter.toLowerCase()));
}

/**
 * Keep the menu inside the window: above its button if there is no room below.
 * @param {HTMLElement} list
 * @param {OpenMenu} menu
 */
function putInside(list, menu) {
  const box = list.getBoundingClientRect();
  const left = Math.max(MARGIN, Math.min(menu.x, innerWidth - box.width - MARGIN));
  const fits = menu.y + box.height <= innerHeight - MARGIN;
  const top = fits ? menu.y : Math.max(MARGIN, menu.above - box.height);
  list.style.left = `${left}px`;
  list.style.top = `${top}px`;
}
