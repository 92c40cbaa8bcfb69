/** What is known of an item. */

/** @param {{id: string, name: string}} item */
export async function openDetails(item) {
  return item;
}
