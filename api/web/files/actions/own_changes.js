/** The changes that this page made: known when the drive tells of them, undone and redone in their order. */

import { send } from "../../shared/api/request.js";

/** @type {Set<number>} */
const made = new Set();
/** @type {Set<Promise<unknown>>} */
const underWay = new Set();

/** @type {{done: number[][], undone: number[][]}} */
const history = { done: [], undone: [] };

/**
 * Send a request that changes something; answers its JSON and the number of the change.
 * @param {string} method
 * @param {string} path
 * @param {import("../../shared/api/request.js").Options} [options]
 * @returns {Promise<{result: any, changeId: number | null}>}
 */
export async function change(method, path, options) {
  const sending = sendChange(method, path, options);
  /** @type {Promise<unknown>} */
  const settled = sending.catch(() => null).then(() => underWay.delete(settled));
  underWay.add(settled);
  return sending;
}

/** @param {string} method @param {string} path @param {import("../../shared/api/request.js").Options} [options] */
async function sendChange(method, path, options) {
  const response = await send(method, path, options);
  const result = response.status === 204 ? null : await response.json();
  const changeId = Number(response.headers.get("drive-change-id")) || result?.change_id || null;
  if (changeId) made.add(changeId);
  return { result, changeId };
}

/** Say whether this page made a change; what is under way is waited for, as it is told of before it is answered. @param {number} id */
export async function madeHere(id) {
  if (!made.has(id)) await Promise.all(underWay);
  return made.has(id);
}

/** Keep changes as the last thing that can be taken back. @param {Array<number | null>} ids */
export function remember(ids) {
  const numbers = ids.filter((id) => id !== null);
  if (!numbers.length) return;
  history.done.push(numbers);
  history.undone = [];
}

/** Take out the last thing that was done (or undone), to turn it around. @param {"done" | "undone"} list */
export const takeLast = (list) => history[list].pop();

/** @param {"done" | "undone"} list @param {number[]} ids */
export const keep = (list, ids) => history[list].push(ids);

/** @param {number[]} ids it was turned around by its notice */
export function forget(ids) {
  history.done = history.done.filter((one) => one !== ids && String(one) !== String(ids));
}
