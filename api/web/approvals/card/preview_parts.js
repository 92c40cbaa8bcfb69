/** The preview of a call, taken apart: the service writes it as lines, in the language of the message. Pure. */

/**
 * @typedef {object} PreviewParts
 * @property {string} sentence what will happen
 * @property {string[]} items what it happens to, a line each
 * @property {string} diff of a text, as a unified diff; "" without one
 * @property {string[]} facts whatever else is said: who gains access, what stays, whether it can be undone
 */

const DIFF_LINE = /^[ +\-@\\]/;
const DIFF_BEGINS = /^(--- |\+\+\+ |@@ )/;
const ITEM = "- ";

/** @param {string} preview @returns {PreviewParts} */
export function partsOf(preview) {
  const [first, ...lines] = preview.split("\n");
  // A line that announces the next one says nothing alone: approvals of before begin so.
  const isLead = /[:：]$/.test(first) && lines.length > 0;
  const [sentence, rest] = isLead ? [`${first} ${lines[0]}`, lines.slice(1)] : [first, lines];
  const items = before(rest, (line) => !line.startsWith(ITEM));
  const after = rest.slice(items.length);
  const begin = after.findIndex((line) => DIFF_BEGINS.test(line));
  const diff = begin < 0 ? [] : before(after.slice(begin), (line) => !DIFF_LINE.test(line));
  const facts = begin < 0 ? after : [...after.slice(0, begin), ...after.slice(begin + diff.length)];
  return {
    sentence,
    items: items.map((line) => line.slice(ITEM.length)),
    diff: diff.join("\n"),
    facts: facts.filter(Boolean),
  };
}

/** The lines before the first one that ends them. @param {string[]} lines @param {(line: string) => boolean} ends */
function before(lines, ends) {
  const end = lines.findIndex(ends);
  return end < 0 ? lines : lines.slice(0, end);
}
