/** Markdown as elements: no HTML of a model or a file reaches the page but through a sanitizer, and no picture is loaded. */

import { Component, html, useRef } from "../preact.js";
import { loadStyles } from "../styles/load.js";
import { loadTexts, text } from "../texts/texts.js";
import { blockReader, headingLevels } from "./blocks.js";
import { CitationChip } from "./citation.js";
import { CodeBlock } from "./code_block.js";
import { RawHtml } from "./raw_html.js";
import { cutAtCitations, decode, nestTags } from "./inline.js";
import { MarkdownLink } from "./link.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/markdown.css")]);

/** @typedef {import("./blocks.js").Token} Token */
/** @typedef {import("../api/types.js").Schema<"CitationView">} Citation */
/**
 * @typedef {object} Drawing what all blocks of a text share
 * @property {number} level of its heading, if it is one
 * @property {Map<number, Citation> | null} citations null: numbers in brackets are only that
 * @property {boolean} streaming
 * @property {(citation: Citation) => void} [onCitation]
 */

/**
 * @param {object} properties
 * @param {string} properties.source
 * @param {boolean} [properties.streaming] more of it will come
 * @param {Citation[]} [properties.citations]
 * @param {(citation: Citation) => void} [properties.onCitation]
 * @param {number} [properties.level] of its first headings: below those of the page
 */
export function Markdown({ source, streaming = false, citations, onCitation, level = 3 }) {
  const reader = useRef(/** @type {ReturnType<typeof blockReader> | null} */ (null));
  reader.current ??= blockReader();
  const kept = useRef(
    /** @type {{citations: any, map: Map<number, Citation> | null}} */ ({ citations: undefined, map: null }),
  );
  if (kept.current.citations !== citations) {
    kept.current = { citations, map: citations ? new Map(citations.map((one) => [one.number, one])) : null };
  }
  const tokens = reader.current(source, streaming);
  const levels = headingLevels(tokens, level);
  return html`<div class="markdown">
    ${tokens.map(
      (token, index) =>
        html`<${Block}
          key=${index}
          token=${token}
          level=${levels[index]}
          citations=${kept.current.map}
          streaming=${streaming}
          onCitation=${onCitation}
        />`,
    )}
  </div>`;
}

/** A block; one that is the same as before is not drawn anew. @extends {Component<any, any>} */
class Block extends Component {
  /** @override @param {any} next */
  shouldComponentUpdate(next) {
    const now = /** @type {any} */ (this.props);
    if (next.token !== now.token || next.citations !== now.citations || next.level !== now.level) return true;
    return next.streaming !== now.streaming && next.citations !== null;
  }

  /** @override */
  render() {
    const { token, ...drawing } = /** @type {any} */ (this.props);
    return drawBlock(token, drawing);
  }
}

/** @param {Token[] | undefined} tokens @param {Drawing} drawing @returns {any} */
const blocks = (tokens, drawing) => (tokens ?? []).map((token) => drawBlock(token, drawing));

/** @typedef {(token: Token, drawing: Drawing) => any} Draw */

/** @type {Record<string, Draw>} */
const BLOCKS = {
  heading: (token, drawing) => html`<${`h${drawing.level}`}>${inline(token.tokens, drawing)}<//>`,
  paragraph: (token, drawing) => html`<p>${inline(token.tokens, drawing)}</p>`,
  text: (token, drawing) => (token.tokens ? inline(token.tokens, drawing) : said(token, drawing)),
  blockquote: (token, drawing) => html`<blockquote>${blocks(token.tokens, drawing)}</blockquote>`,
  list,
  table,
  code: (token) => html`<${CodeBlock} code=${token.text} language=${(token.lang ?? "").split(/\s/)[0]} />`,
  hr: () => html`<hr />`,
  html: (token) => html`<${RawHtml} source=${token.raw} />`,
  checkbox: ({ checked }) =>
    html`<input
      type="checkbox"
      disabled
      checked=${checked}
      aria-label=${text(checked ? "shared.markdown.done" : "shared.markdown.open")}
    />`,
  space: () => null,
  def: () => null,
};

/** @type {Draw} */
const drawBlock = (token, drawing) => (BLOCKS[token.type] ?? drawInline)(token, drawing);

/** @param {Token} token @param {Drawing} drawing */
function list(token, drawing) {
  const items = token.items.map(
    (/** @type {Token} */ item) =>
      html`<li class=${item.task ? "task" : undefined}>${blocks(item.tokens, drawing)}</li>`,
  );
  if (!token.ordered)
    return html`<ul>
      ${items}
    </ul>`;
  return html`<ol start=${token.start === 1 ? undefined : token.start}>
    ${items}
  </ol>`;
}

/** @param {Token} token @param {Drawing} drawing */
function table(token, drawing) {
  const cell = (/** @type {any} */ one) => {
    const name = one.header ? "th" : "td";
    const style = one.align ? { textAlign: one.align } : undefined;
    return html`<${name} scope=${one.header ? "col" : undefined} style=${style}>${inline(one.tokens, drawing)}<//>`;
  };
  return html`<div class="wide-table" tabindex="0" role="region" aria-label=${text("shared.markdown.table")}>
    <table>
      <thead>
        <tr>
          ${token.header.map(cell)}
        </tr>
      </thead>
      <tbody>
        ${token.rows.map(
          (/** @type {any[]} */ row) =>
            html`<tr>
              ${row.map(cell)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param {Token[] | undefined} tokens @param {Drawing} drawing @returns {any} */
const inline = (tokens, drawing) => nestTags(tokens ?? []).map((token) => drawInline(token, drawing));

/** @type {Record<string, Draw>} */
const INLINE = {
  strong: (token, drawing) => html`<strong>${inline(token.tokens, drawing)}</strong>`,
  em: (token, drawing) => html`<em>${inline(token.tokens, drawing)}</em>`,
  del: (token, drawing) => html`<del>${inline(token.tokens, drawing)}</del>`,
  tag: (token, drawing) => html`<${token.tag}>${inline(token.tokens, drawing)}<//>`,
  codespan: (token) => html`<code>${token.text}</code>`,
  br: () => html`<br />`,
  link: (token, drawing) =>
    html`<${MarkdownLink} address=${decode(token.href)}>${inline(token.tokens, { ...drawing, citations: null })}<//>`,
  image: (token) =>
    html`<${MarkdownLink} address=${decode(token.href)} isImage
      >${decode(token.text) || text("shared.markdown.image")}<//
    >`,
  escape: (token) => token.text,
  html: (token) => token.raw,
  checkbox: BLOCKS.checkbox,
};

/** @type {Draw} */
const drawInline = (token, drawing) =>
  INLINE[token.type]?.(token, drawing) ?? (token.tokens ? inline(token.tokens, drawing) : said(token, drawing));

/** A plain text, with its citations as chips. @param {Token} token @param {Drawing} drawing */
function said(token, { citations, streaming, onCitation }) {
  const words = decode(token.text ?? token.raw);
  if (!citations) return words;
  const parts = cutAtCitations(words, (number) => streaming || citations.has(number));
  return parts.map((part) =>
    typeof part === "string"
      ? part
      : html`<${CitationChip} number=${part} citation=${citations.get(part)} onOpen=${onCitation} />`,
  );
}
