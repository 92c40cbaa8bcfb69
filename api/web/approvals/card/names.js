/** Names and other people's words inside the product's sentences, set apart from them. */

import { html } from "../../shared/preact.js";

const LONGEST_CHOICE = 200;

/** @typedef {import("./card.js").Action} Action */

/** What a sentence about a call may quote: names of what it touches, and the texts of its arguments. @param {Action} action */
export function quotedIn(action) {
  const items = action.effect?.items ?? [];
  const names = items.flatMap((/** @type {any} */ item) => [item.name, item.path, item.path?.split("/").at(-1)]);
  const people = [...(action.effect?.gains_access ?? []), ...(action.effect?.loses_access ?? [])];
  const given = Object.values(action.args).filter((value) => typeof value === "string");
  const found = [...names, ...people, ...given].filter((name) => typeof name === "string" && name.length > 1);
  return [...new Set(found)].sort((one, other) => other.length - one.length).slice(0, LONGEST_CHOICE);
}

/**
 * Divide a sentence into its own words and what it quotes. Pure.
 * @param {string} sentence
 * @param {string[]} names the longest first
 * @returns {Array<{words: string, isQuoted: boolean}>}
 */
export function dividedAt(sentence, names) {
  /** @type {Array<{words: string, isQuoted: boolean}>} */
  let parts = [{ words: sentence, isQuoted: false }];
  for (const name of names) {
    parts = parts.flatMap((part) => (part.isQuoted ? [part] : split(part.words, name)));
  }
  return parts.filter((part) => part.words);
}

/** @param {string} words @param {string} name */
function split(words, name) {
  return words.split(name).flatMap((part, at) => [
    ...(at ? [{ words: name, isQuoted: true }] : []),
    { words: part, isQuoted: false },
  ]);
}

/** A sentence of the service about a call. @param {{sentence: string, action: Action}} properties */
export function Sentence({ sentence, action }) {
  return dividedAt(sentence, quotedIn(action)).map(({ words, isQuoted }, at) =>
    isQuoted ? html`<bdi class="quoted" key=${at}>${words}</bdi>` : words,
  );
}
