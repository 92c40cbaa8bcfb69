/** Where the words of a search stand in a text. */

/**
 * Cut a text into parts that are a hit or not.
 * @param {string} content
 * @param {string} words
 * @returns {Array<{part: string, isHit: boolean}>}
 */
export function marked(content, words) {
  const wanted = words
    .split(/\s+/)
    .filter(Boolean)
    .sort((one, other) => other.length - one.length);
  if (!wanted.length) return [{ part: content, isHit: false }];
  const pattern = new RegExp(`(${wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return content
    .split(pattern)
    .map((part, index) => ({ part, isHit: index % 2 === 1 }))
    .filter(({ part }) => part);
}
