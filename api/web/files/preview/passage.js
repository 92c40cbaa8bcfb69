/** The passage of a citation: which part of a file, and how people say where it is. */

/** @typedef {{version: number | null, start: number | null, end: number | null, place: string}} Passage */

/**
 * @param {Record<string, string>} query of the place of an open file
 * @returns {Passage}
 */
export function passageOf(query) {
  const number = (/** @type {string | undefined} */ value) => (value && /^\d+$/.test(value) ? Number(value) : null);
  return {
    version: number(query.version),
    start: number(query.start),
    end: number(query.end),
    place: query.place ?? "",
  };
}

/**
 * Cut a text into what is before a passage, the passage, and what is after it. The service counts characters, where
 * JavaScript counts an emoji as two.
 * @param {string} text
 * @param {number} from
 * @param {number} to
 * @returns {[string, string, string]}
 */
export function cut(text, from, to) {
  const begin = Math.max(0, from);
  const end = Math.max(begin, to);
  if (!/[\ud800-\udfff]/.test(text)) return [text.slice(0, begin), text.slice(begin, end), text.slice(end)];
  const characters = Array.from(text);
  return [characters.slice(0, begin).join(""), characters.slice(begin, end).join(""), characters.slice(end).join("")];
}

/**
 * Take a place such as `page=2-3` or `sheet=Budget!A2:D15` apart; null for what is none.
 * @param {string} place
 * @returns {{kind: "page" | "slide" | "part" | "line" | "sheet", at: string, name: string} | null}
 */
export function parsePlace(place) {
  const match = /^(page|slide|part|line|sheet)=(.+)$/s.exec(place);
  if (!match) return null;
  const kind = /** @type {"page"} */ (match[1]);
  if (match[1] !== "sheet") return { kind, at: match[2].replace("-", "–"), name: "" };
  const mark = match[2].lastIndexOf("!");
  return { kind, at: match[2].slice(mark + 1), name: match[2].slice(0, Math.max(0, mark)) };
}
