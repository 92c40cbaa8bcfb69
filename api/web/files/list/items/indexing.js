/** Asks how files stand in the index while they wait for it: no change of the drive tells that. */

import { findItem } from "./find_item.js";

/** @typedef {import("./ordering.js").Item} Item */

const EVERY_MS = 2500;
const MOST = 30;
/** OCR comes after all other files: the pauses between two questions grow to a minute. */
const MAX_PAUSE = 24;

/** @param {Item} item */
const isPending = (item) => item.index_state === "pending" || item.index_state === "indexing";

/** @param {Item} item */
const awaitsOcr = (item) => item.index_state === "needs_ocr";

/**
 * Follow the files that wait until each is read. Returns what ends it.
 * @param {() => Item[]} shown
 * @param {(moved: Item[]) => void} take gets those that stand otherwise now
 */
export function watchIndexing(shown, take) {
  let [pause, wait] = [1, 1];
  const look = async () => {
    if (document.hidden) return;
    const isDue = --wait <= 0;
    const waiting = shown().filter((item) => isPending(item) || (isDue && awaitsOcr(item)));
    const moved = await movedOf(waiting.slice(0, MOST));
    if (moved.length) pause = 1;
    else if (isDue && waiting.some(awaitsOcr)) pause = Math.min(pause * 2, MAX_PAUSE);
    if (isDue || moved.length) wait = pause;
    if (moved.length) take(moved);
  };
  const timer = setInterval(() => void look(), EVERY_MS);
  return () => clearInterval(timer);
}

/** Return those that stand otherwise in the index than they are shown. @param {Item[]} waiting @returns {Promise<Item[]>} */
async function movedOf(waiting) {
  const found = await Promise.all(waiting.map((item) => findItem(item.id))).catch(() => []);
  return found
    .filter((item, at) => item !== null && item.index_state !== waiting[at].index_state)
    .map((item) => /** @type {Item} */ (item));
}
