/** What is in the result of a call: a sentence, and the items that it names. Pure. */

/** @typedef {import("../conversation/turn.js").Part} Part */
/** @typedef {{id: string, kind: string, name: string, path: string, version?: number, start?: number, end?: number, place?: string}} ResultItem */

/** @type {WeakMap<Part, {sentence: string, items: ResultItem[]}>} */
const known = new WeakMap();
const DEEPEST = 5;
const MOST = 200;

/**
 * @param {Part} part
 * @returns {{sentence: string, items: ResultItem[]}}
 */
export function resultOf(part) {
  if (part.kind !== "call" || !part.result) return { sentence: "", items: [] };
  const before = known.get(part);
  if (before) return before;
  const at = part.result.search(/^[[{]/m);
  const sentence = (at < 0 ? part.result : part.result.slice(0, at)).trim();
  /** @type {Map<string, ResultItem>} */
  const items = new Map();
  if (at >= 0) collect(parsed(part.result.slice(at)), items, 0);
  const found = { sentence, items: [...items.values()] };
  known.set(part, found);
  return found;
}

/** @param {string} json */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/**
 * @param {any} value
 * @param {Map<string, ResultItem>} items
 * @param {number} depth
 */
function collect(value, items, depth) {
  if (!value || typeof value !== "object" || depth > DEEPEST || items.size >= MOST) return;
  const item = isPassage(value) ? passageItem(value) : isItem(value) ? itemOf(value) : null;
  if (item && !items.has(item.id)) items.set(item.id, item);
  if (!isPassage(value)) for (const inner of Object.values(value)) collect(inner, items, depth + 1);
}

/** @param {any} value */
const isItem = ({ id, name, path }) => [id, name, path].every((one) => typeof one === "string");

/** A hit of a search, or a part of a file. @param {any} value */
const isPassage = (value) => Boolean(value.file?.id) && "start" in value;

/** @param {any} passage @returns {ResultItem} */
function passageItem({ file, version, start, end, place }) {
  const at = end > start ? { version: version ?? file.version, start, end, place: place || undefined } : {};
  return { ...itemOf(file), ...at };
}

/** @param {any} item @returns {ResultItem} */
const itemOf = ({ id, kind, name, path }) => ({ id, kind: kind ?? "file", name, path });

/** Names of items by their ids, as far as results of the turn tell them. @param {Part[]} parts */
export function namesIn(parts) {
  /** @type {Map<string, string>} */
  const names = new Map([["root", "/"]]);
  for (const part of parts)
    for (const item of resultOf(part).items) if (!names.has(item.id)) names.set(item.id, item.name);
  return names;
}
