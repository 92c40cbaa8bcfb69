/** The order of items: by which column, folders first, and sorted in slices so that the page stays awake. */

import { compareNames } from "../../../shared/texts/format.js";

/** @typedef {import("../../../shared/api/types.js").Schema<"ItemView">} Item */
/** @typedef {"name" | "modified" | "owner" | "size"} SortKey */
/** @typedef {{key: SortKey, descending: boolean}} Sort */
/** @typedef {(a: Item, b: Item) => number} Comparison */

/** The date of an item's content; of one in the trash, when it was put there. @param {Item} item */
export const momentOf = (item) => item.trashed_at ?? item.modified_at;

/** @type {(a: string | number, b: string | number) => number} */
const plain = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** @type {Record<SortKey, Comparison>} */
const KEYS = {
  name: (a, b) => compareNames(a.name, b.name),
  modified: (a, b) => plain(momentOf(a), momentOf(b)),
  owner: (a, b) => compareNames(a.owner, b.owner),
  size: (a, b) => plain(weight(a), weight(b)),
};

/** @param {Item} item */
const weight = (item) => (item.kind === "folder" ? (item.child_count ?? 0) : item.size);

/** Return the comparison of a sort; items that it finds equal are in the order of their names. @param {Sort} sort @returns {Comparison} */
export function comparison({ key, descending }) {
  const sign = descending ? -1 : 1;
  return (a, b) =>
    plain(a.kind === "folder" ? 0 : 1, b.kind === "folder" ? 0 : 1) ||
    sign * KEYS[key](a, b) ||
    KEYS.name(a, b) ||
    plain(a.id, b.id);
}

const RUN = 256;

/**
 * Sort items, a step at a time.
 * @param {Item[]} items
 * @param {Comparison} compare
 * @returns {Generator<void, Item[]>}
 */
export function* sorting(items, compare) {
  let runs = [];
  for (let start = 0; start < items.length; start += RUN) {
    runs.push(items.slice(start, start + RUN).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged = [];
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(at + 1 < runs.length ? yield* merging(runs[at], runs[at + 1], compare) : runs[at]);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/**
 * Merge two sorted lists, a step at a time.
 * @param {Item[]} left
 * @param {Item[]} right
 * @param {Comparison} compare
 * @returns {Generator<void, Item[]>}
 */
export function* merging(left, right, compare) {
  // What the service lists is mostly in order already: then there is nothing to compare.
  if (!left.length || !right.length || compare(left[left.length - 1], right[0]) <= 0) return left.concat(right);
  const merged = new Array(left.length + right.length);
  let [fromLeft, fromRight] = [0, 0];
  for (let at = 0; at < merged.length; at++) {
    const isLeft =
      fromRight >= right.length || (fromLeft < left.length && compare(left[fromLeft], right[fromRight]) <= 0);
    merged[at] = isLeft ? left[fromLeft++] : right[fromRight++];
    if (at % RUN === RUN - 1) yield;
  }
  return merged;
}

/**
 * Put a few items in their places in a sorted list.
 * @param {Item[]} sorted
 * @param {Item[]} added
 * @param {Comparison} compare
 */
export function inserted(sorted, added, compare) {
  const result = [];
  let from = 0;
  for (const item of [...added].sort(compare)) {
    const to = placeOf(sorted, item, compare, from);
    for (; from < to; from++) result.push(sorted[from]);
    result.push(item);
  }
  for (; from < sorted.length; from++) result.push(sorted[from]);
  return result;
}

/** @param {Item[]} sorted @param {Item} item @param {Comparison} compare @param {number} from */
function placeOf(sorted, item, compare, from) {
  let [low, high] = [from, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(sorted[middle], item) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const BUDGET_MS = 8;

/**
 * Run steps to their end; after each few milliseconds the browser may do something else.
 * @template T
 * @param {Generator<void, T>} steps
 * @param {AbortSignal} [abort]
 * @returns {Promise<T>}
 */
export async function inSlices(steps, abort) {
  let end = performance.now() + BUDGET_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < end) continue;
    await new Promise((resolve) => setTimeout(resolve));
    abort?.throwIfAborted();
    end = performance.now() + BUDGET_MS;
  }
}
