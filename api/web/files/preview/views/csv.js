/** Tables as text: values between commas, semicolons or tabs (RFC 4180). */

const SEPARATORS = [",", "\t", ";"];

/** Return what separates the values: what the first line has most of. @param {string} text */
export function separatorOf(text) {
  const line = text.slice(0, Math.max(0, text.search(/[\r\n]/)) || undefined).replace(/"[^"]*"/g, "");
  const counts = SEPARATORS.map((separator) => line.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))];
}

/**
 * Return the rows of a table. A quotation mark inside quoted text stands there twice.
 * @param {string} text
 * @param {string} [separator]
 * @returns {string[][]}
 */
export function parseTable(text, separator = separatorOf(text)) {
  const rows = [];
  /** @type {string[]} */
  let row = [];
  /** @type {number} */
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const length = text.length;
  while (at < length) {
    /** @type {[string, number]} */
    const [value, end] = text[at] === '"' ? quoted(text, at, separator) : plain(text, at, separator);
    row.push(value);
    const mark = text.charAt(end);
    at = end + (mark === "\r" && text[end + 1] === "\n" ? 2 : 1);
    if (mark === separator) {
      if (at >= length) row.push("");
      continue;
    }
    rows.push(row);
    row = [];
  }
  if (row.length) rows.push(row);
  return rows;
}

/** @param {string} text @param {number} at @param {string} separator @returns {[string, number]} the value, and where it ends */
function plain(text, at, separator) {
  let end = at;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return [text.slice(at, end), end];
}

/** @param {string} text @param {number} at of the first mark @param {string} separator @returns {[string, number]} */
function quoted(text, at, separator) {
  let value = "";
  let from = at + 1;
  for (;;) {
    const mark = text.indexOf('"', from);
    if (mark < 0) return [value + text.slice(from), text.length];
    value += text.slice(from, mark);
    if (text[mark + 1] !== '"') {
      const [rest, end] = plain(text, mark + 1, separator);
      return [value + rest, end];
    }
    value += '"';
    from = mark + 2;
  }
}
