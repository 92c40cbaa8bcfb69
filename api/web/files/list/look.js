/** How lists look: their sort, as rows or as pictures, and how much room there is. */

import { effect, signal } from "../../shared/preact.js";

/** @typedef {import("./items/ordering.js").Sort} Sort */
/** @typedef {"rows" | "pictures"} Layout */

const KEPT = "files-look";

/** @type {{sort?: Sort, layout?: Layout}} */
const before = JSON.parse(localStorage.getItem(KEPT) ?? "{}");

/** @type {import("../../vendor/signals.js").Signal<Sort>} */
export const sort = signal(before.sort ?? { key: "name", descending: false });
/** @type {import("../../vendor/signals.js").Signal<Layout>} */
export const layout = signal(before.layout ?? "rows");

effect(() => localStorage.setItem(KEPT, JSON.stringify({ sort: sort.value, layout: layout.value })));

const NARROW = 520;
const PICTURE = { width: 160, height: 176 };
const ROW = { wide: 40, touch: 48, narrow: 60 };

/**
 * Return how many columns of which height there are in so many pixels.
 * @param {Layout} shown
 * @param {number} width
 * @param {boolean} isTouch
 * @param {number} [letters] how large letters are, against the usual ones
 */
export function measures(shown, width, isTouch, letters = 1) {
  const isNarrow = width < NARROW;
  if (shown === "pictures") {
    const columns = Math.max(2, Math.floor(width / (PICTURE.width * letters)));
    return { columns, rowHeight: PICTURE.height * letters, isNarrow };
  }
  return { columns: 1, rowHeight: (isNarrow ? ROW.narrow : isTouch ? ROW.touch : ROW.wide) * letters, isNarrow };
}
