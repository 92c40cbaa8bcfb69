/** Who has access to an item. */

/** @param {{id: string, name: string}} item */
export async function openShare(item) {
  return item;
}
