/** Names and other people's words inside the product's sentences, set apart from them. */

import { html } from "../../shared/preact.js";

const MAX_NAMES = 200;

/** @typedef {import("./card.js").Action} Action */
/** @typedef {{words: string, isQuoted: boolean}} Part */

/** Words that the product chooses itself. */
const SETTINGS = new Set(["role", "on_conflict", "date", "language", "kind"]);
/** What stands between the quotation marks of a sentence, from the first to the last; an apostrophe in a word is none. */
const QUOTED = /(?<=(?:^|[\s(])')[^]*(?='(?:$|[\s.,;:)]))|(?<=“)[^]*(?=”)|(?<=「)[^]*(?=」)/u;
const QUOTATION_MARK = /^['”」]|['“「]$/gu;

/** What a sentence about a call may quote: names of what it touches, and the texts of its arguments. @param {Action} action */
export function quotedIn(action) {
  const items = action.effect?.items ?? [];
  const names = items.flatMap((/** @type {any} */ item) => [item.name, item.path, item.path?.split("/").at(-1)]);
  const people = [...(action.effect?.gains_access ?? []), ...(action.effect?.loses_access ?? [])];
  const given = Object.entries(action.args).flatMap(([name, value]) => (SETTINGS.has(name) ? [] : [value]));
  const found = [...names, ...people, ...given].filter((name) => typeof name === "string" && isTelling(name));
  return [...new Set(found)].sort((one, other) => other.length - one.length).slice(0, MAX_NAMES);
}

/** Say whether a name is no word of a sentence by chance. Shorter ones are found by their quotation marks. @param {string} name */
const isTelling = (name) => name.length > 3 || /\p{Script=Han}{2}/u.test(name);

/**
 * Divide a sentence into its own words and what it quotes: names that are known, and what else stands in quotation
 * marks, from the first to the last one, as a name may have some itself. Pure.
 * @param {string} sentence
 * @param {string[]} names the longest first
 * @returns {Array<{words: string, isQuoted: boolean}>}
 */
export function dividedAt(sentence, names) {
  /** @type {Part[]} */
  let parts = [{ words: sentence, isQuoted: false }];
  for (const name of names) parts = parts.flatMap((part) => (part.isQuoted ? [part] : split(part.words, name)));
  return parts.flatMap((part) => (part.isQuoted ? [part] : inMarks(part.words))).filter((part) => part.words);
}

/** @param {string} words @param {string} name @returns {Part[]} */
function split(words, name) {
  return words
    .split(name)
    .flatMap((part, at) => [...(at ? [{ words: name, isQuoted: true }] : []), { words: part, isQuoted: false }]);
}

/** @param {string} words between names that are known: marks at the ends are theirs @returns {Part[]} */
function inMarks(words) {
  const own = words.replace(QUOTATION_MARK, (mark) => "\0".repeat(mark.length));
  const found = QUOTED.exec(own);
  if (!found) return [{ words, isQuoted: false }];
  const begin = found.index;
  const end = begin + found[0].length;
  return [
    { words: words.slice(0, begin), isQuoted: false },
    { words: words.slice(begin, end), isQuoted: true },
    { words: words.slice(end), isQuoted: false },
  ];
}

/** A sentence of the service about a call. @param {{sentence: string, action: Action}} properties */
export function Sentence({ sentence, action }) {
  return dividedAt(sentence, quotedIn(action)).map(({ words, isQuoted }, at) =>
    isQuoted ? html`<bdi class="quoted" key=${at}>${words}</bdi>` : words,
  );
}
