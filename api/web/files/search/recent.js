/** The words that were searched for last in this browser. */

const KEPT = "recent-searches";
const MOST = 8;

/** @returns {string[]} */
export function recentWords() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** @param {string} words */
export function keepWords(words) {
  const kept = withWords(recentWords(), words);
  localStorage.setItem(KEPT, JSON.stringify(kept));
}

/** The newest first, each once. @param {string[]} before @param {string} words */
export function withWords(before, words) {
  const trimmed = words.trim();
  return trimmed ? [trimmed, ...before.filter((one) => one !== trimmed)].slice(0, MOST) : before;
}
