/** The `@` by which a file is picked. Pure. */

const LONGEST = 60;

/**
 * Return what stands between an `@` and the caret; null where there is none.
 * @param {string} words
 * @param {number} caret
 * @returns {{start: number, words: string} | null}
 */
export function mentionAt(words, caret) {
  const before = words.slice(Math.max(0, caret - LONGEST - 1), Math.max(0, caret));
  // In an address such as name@example.org it is no mention; Chinese has no blank before it.
  const found = /(?:^|[^a-z0-9._%+-])@([^@\n]*)$/i.exec(before);
  if (!found || /\s{2}|^\s/.test(found[1])) return null;
  return { start: caret - found[1].length - 1, words: found[1] };
}
