/** The commands that were used last in this browser. */

const KEPT = "used-commands";
const MOST = 6;

/** @returns {string[]} */
export function usedBefore() {
  return (localStorage.getItem(KEPT) ?? "").split(" ").filter(Boolean);
}

/** @param {string} id */
export function keepUsed(id) {
  const kept = [id, ...usedBefore().filter((one) => one !== id)].slice(0, MOST);
  localStorage.setItem(KEPT, kept.join(" "));
}
