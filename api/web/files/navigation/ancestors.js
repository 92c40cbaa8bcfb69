/** The folders above a folder, up to the first that the person may see. */

import { findItem } from "../list/items/find_item.js";

/** @typedef {import("../list/items/ordering.js").Item} Item */

/** @type {Map<string, Item>} */
const known = new Map();

/** Keep a folder as it is now. @param {Item} folder */
export const remember = (folder) => known.set(folder.id, folder);

/**
 * @param {Item} folder
 * @param {(id: string) => Promise<Item | null>} [look]
 * @returns {Promise<Item[]>} the outermost first
 */
export async function ancestorsOf(folder, look = findItem) {
  const above = [];
  for (let id = folder.parent_id; id;) {
    const parent = known.get(id) ?? (await look(id));
    if (!parent) break;
    remember(parent);
    above.unshift(parent);
    id = parent.parent_id;
  }
  return above;
}
