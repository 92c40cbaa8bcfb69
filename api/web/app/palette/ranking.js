/** Which commands fit what is typed, the best first. */

/**
 * How well a title fits: 0 not at all; its beginning best, then the beginning of a word, then anywhere, then letters in order.
 * @param {string} title
 * @param {string} words
 */
export function fit(title, words) {
  const whole = title.toLowerCase();
  const wanted = words.toLowerCase();
  const at = whole.indexOf(wanted);
  if (at === 0) return 4;
  if (at > 0) return whole[at - 1] === " " ? 3 : 2;
  let from = 0;
  for (const letter of wanted.replace(/\s+/g, "")) {
    from = whole.indexOf(letter, from) + 1;
    if (!from) return 0;
  }
  return 1;
}

/**
 * @template {{id: string, title: string}} T
 * @param {string} words
 * @param {T[]} commands
 * @param {string[]} used ids, the one used last first
 * @returns {T[]}
 */
export function ranked(words, commands, used) {
  const age = (/** @type {T} */ one) => (used.includes(one.id) ? used.indexOf(one.id) : used.length);
  return commands
    .map((one) => ({ one, score: words ? fit(one.title, words) : 1 }))
    .filter(({ score }) => score)
    .sort((a, b) => b.score - a.score || age(a.one) - age(b.one))
    .map(({ one }) => one);
}
