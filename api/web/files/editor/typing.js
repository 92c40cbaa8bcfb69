/** How a text changes with a key, and where the cursor is in it. */

const INDENT = "  ";

/**
 * The line and the column of a place in a text, from 1; columns count what people see as letters.
 * @param {string} text
 * @param {number} at
 */
export function positionOf(text, at) {
  const before = text.slice(0, at);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: Array.from(before.slice(start)).length + 1 };
}

/**
 * Return what replaces the lines of a selection when they are indented, or not any more.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {boolean} outward
 * @returns {{from: number, to: number, words: string, start: number, end: number}} the last two: what is selected then
 */
export function indent(text, start, end, outward) {
  if (start === end && !outward) return { from: start, to: end, words: INDENT, start: start + 2, end: start + 2 };
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const found = text.indexOf("\n", Math.max(from, end - (end > start ? 1 : 0)));
  const to = found < 0 ? text.length : found;
  const lines = text.slice(from, to).split("\n");
  const changed = lines.map((line) => (outward ? line.replace(/^( {1,2}|\t)/, "") : INDENT + line));
  const words = changed.join("\n");
  const first = changed[0].length - lines[0].length;
  return {
    from,
    to,
    words,
    start: Math.max(from, start + first),
    end: Math.max(from, end + words.length - (to - from)),
  };
}
