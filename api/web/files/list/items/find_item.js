/** One item, looked up by its id. */

import { get } from "../../../shared/api/request.js";

const NOT_THERE = new Set([403, 404, 410]);

/**
 * Return an item; null if it is not there any more, or not for this person. Throws `Problem` for all else.
 * @param {string} id
 * @returns {Promise<import("./ordering.js").Item | null>}
 */
export async function findItem(id) {
  try {
    return await get(`/api/drive/items/${encodeURIComponent(id)}`);
  } catch (/** @type {any} */ problem) {
    if (NOT_THERE.has(problem.status)) return null;
    throw problem;
  }
}
