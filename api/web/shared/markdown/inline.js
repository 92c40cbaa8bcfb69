/** Text in Markdown: entities, simple HTML tags, numbers of citations, addresses. No DOM. */

/** @typedef {import("./blocks.js").Token} Token */

/** @type {Record<string, string>} */
const ENTITIES = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  euro: "€",
  pound: "£",
  times: "×",
  deg: "°",
  middot: "·",
  bull: "•",
  larr: "←",
  rarr: "→",
  laquo: "«",
  raquo: "»",
};
const SIMPLE_TAGS = new Set([
  "b",
  "strong",
  "i",
  "em",
  "u",
  "s",
  "del",
  "ins",
  "sub",
  "sup",
  "kbd",
  "mark",
  "small",
  "code",
  "q",
]);
const MAX_CODE_POINT = 0x10ffff;

/** Return a text with its entities as characters. @param {string} text */
export function decode(text) {
  return text.replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi, (whole, name) => {
    if (!name.startsWith("#")) return ENTITIES[name] ?? whole;
    const code = name[1].toLowerCase() === "x" ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= MAX_CODE_POINT ? String.fromCodePoint(code) : whole;
  });
}

/**
 * Put what stands between two simple tags into one token; other tags become the text that they are.
 * @param {Token[]} tokens
 * @returns {Token[]}
 */
export function nestTags(tokens) {
  if (!tokens.some((token) => token.type === "html")) return tokens;
  /** @type {OpenTag[]} */
  const open = [{ tag: "", opening: null, tokens: [] }];
  for (const token of tokens) place(token, open);
  // What was opened and not closed stands there as it was written.
  while (open.length > 1) {
    const { opening, tokens: inside } = /** @type {any} */ (open.pop());
    open[open.length - 1].tokens.push(opening, ...inside);
  }
  return open[0].tokens;
}

/** @typedef {{tag: string, opening: Token | null, tokens: Token[]}} OpenTag */

/** Put a token where it belongs: into what is open, opening or closing something. @param {Token} token @param {OpenTag[]} open */
function place(token, open) {
  const top = open[open.length - 1];
  const [tag, isEnd, written] = (token.type === "html" && /^<(\/?)([a-z]+)\s*\/?>$/i.exec(token.raw)) || [];
  const name = written?.toLowerCase() ?? "";
  if (name === "br") top.tokens.push({ type: "br", raw: token.raw });
  else if (tag && !isEnd && SIMPLE_TAGS.has(name)) open.push({ tag: name, opening: token, tokens: [] });
  else if (isEnd && top.tag === name) {
    open.pop();
    open[open.length - 1].tokens.push({ type: "tag", raw: token.raw, tag: name, tokens: top.tokens });
  } else top.tokens.push(token);
}

/**
 * Cut a text at the numbers of citations, such as `[2]`.
 * @param {string} text
 * @param {(number: number) => boolean} isCitation
 * @returns {Array<string | number>}
 */
export function cutAtCitations(text, isCitation) {
  /** @type {Array<string | number>} */
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(/\[(\d{1,3})\]/g)) {
    if (!isCitation(Number(match[1]))) continue;
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push(Number(match[1]));
    end = match.index + match[0].length;
  }
  if (end < text.length || !parts.length) parts.push(text.slice(end));
  return parts;
}

/**
 * Say where an address leads.
 * @param {string} address
 * @param {string} base the page's own address
 * @returns {{kind: "file", id: string, passage: Record<string, any>} | {kind: "own" | "foreign" | "mail", href: string} | {kind: "none"}}
 */
export function destination(address, base) {
  /** @type {URL} */
  let url;
  try {
    url = new URL(address.trim(), base);
  } catch {
    return { kind: "none" };
  }
  const own = url.origin === new URL(base).origin;
  const file =
    url.protocol === "drive:"
      ? /^\/?\/?files\/([^/?]+)/.exec(url.href.slice("drive:".length))
      : own && /^\/f\/([^/]+)$/.exec(url.pathname);
  if (file) return { kind: "file", id: decodeURIComponent(file[1]), passage: passageOf(url) };
  if (url.protocol === "mailto:") return { kind: "mail", href: url.href };
  if (url.protocol !== "http:" && url.protocol !== "https:") return { kind: "none" };
  if (url.username || url.password) return { kind: "none" };
  // Other addresses of our own service may do something, such as a sign-in; only those of the page are followed unasked.
  const isPage = own && url.pathname === new URL(base).pathname && url.hash.startsWith("#/");
  return { kind: isPage ? "own" : "foreign", href: url.href };
}

/** @param {URL} url */
function passageOf(url) {
  /** @type {Record<string, any>} */
  const passage = {};
  for (const name of ["version", "start", "end"]) {
    const value = url.searchParams.get(name);
    if (value !== null && /^\d+$/.test(value)) passage[name] = Number(value);
  }
  const place = decodeURIComponent(url.hash.slice(1));
  return place ? { ...passage, place } : passage;
}
