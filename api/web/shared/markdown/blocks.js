/** Markdown in blocks: of a text that grows, only its last block is read anew. */

import { Lexer } from "../../vendor/marked.js";

/** @typedef {{type: string, raw: string} & Record<string, any>} Token */

/**
 * Return a reader of one text that grows. The tokens of finished blocks stay the same objects from call to call.
 * @returns {(source: string, grows?: boolean) => Token[]} `grows`: more will come, so finished blocks may be taken as they are
 */
export function blockReader() {
  /** @type {Token[]} */
  let finished = [];
  let known = "";
  let links = {};
  return (source, grows = false) => {
    if (!grows || !source.startsWith(known)) {
      finished = grows ? [] : finished;
      known = "";
      links = {};
    }
    const tokens = read(source.slice(known.length), links);
    if (!grows) return (finished = sameWhereEqual(finished, tokens));
    const end = lastBlock(tokens);
    finished = finished.concat(tokens.slice(0, end));
    known += tokens
      .slice(0, end)
      .map((token) => token.raw)
      .join("");
    return finished.concat(tokens.slice(end));
  };
}

/**
 * @param {string} source
 * @param {Record<string, any>} links definitions of links so far
 * @returns {Token[]}
 */
function read(source, links) {
  const lexer = new Lexer({ gfm: true });
  lexer.tokens.links = links;
  const tokens = /** @type {any} */ (lexer.lex(source));
  return [...tokens];
}

/** The last block may still become another one: a list goes on after a blank line. @param {Token[]} tokens */
function lastBlock(tokens) {
  const last = tokens.findLastIndex((token) => token.type !== "space");
  // A text in front of a line of dashes becomes a heading or a table with that line: it is no other block yet.
  return Math.max(0, last);
}

/**
 * Keep old tokens where the text is the same, so that what is drawn of them stays.
 * @param {Token[]} old
 * @param {Token[]} fresh
 */
const sameWhereEqual = (old, fresh) => fresh.map((token, index) => (isSame(old[index], token) ? old[index] : token));

/** A link by its name depends on a definition elsewhere. @param {Token | undefined} one @param {Token} other */
const isSame = (one, other) =>
  one?.raw === other.raw && one.type === other.type && !other.raw.includes("][") && !/\]\s*$/.test(other.raw);

const DEEPEST = 6;

/**
 * Return the level of each heading on the page: whatever a text begins with, its first ones have the given level, and none
 * is left out on the way down.
 * @param {Token[]} tokens
 * @param {number} first
 */
export function headingLevels(tokens, first) {
  let shallowest = DEEPEST;
  let before = first - 1;
  return tokens.map((token) => {
    if (token.type !== "heading") return first;
    shallowest = Math.min(shallowest, token.depth);
    before = Math.min(DEEPEST, before + 1, first + token.depth - shallowest);
    return before;
  });
}
