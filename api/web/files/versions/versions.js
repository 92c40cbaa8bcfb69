/** The versions of a file. */

/** @param {{id: string, name: string}} item */
export async function openVersions(item) {
  return item;
}
