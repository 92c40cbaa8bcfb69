/** What is different in two texts, as a table: lines that went, lines that came, and what is around them. */

import { html, useMemo } from "../preact.js";
import { text } from "../texts/texts.js";
import { diffTexts, parseDiff } from "./diff_lines.js";

/** @typedef {import("./diff_lines.js").DiffLine} DiffLine */

/** @type {Record<string, string>} */
const SIGNS = { added: "+", removed: "−", same: "", gap: "⋯" };

/**
 * Shows a unified diff, or the differences of two texts.
 * @param {{label: string, diff?: string, before?: string, after?: string, truncated?: boolean}} properties
 *   `truncated`: more follows that is not in `diff`
 */
export function Diff({ label, diff, before = "", after = "", truncated = false }) {
  const lines = useMemo(() => (diff === undefined ? diffTexts(before, after) : parseDiff(diff)), [diff, before, after]);
  if (!lines.length) return html`<p class="quiet">${text("shared.diff.same")}</p>`;
  return html`<div class="diff" tabindex="0" role="region" aria-label=${label}>
    <table>
      <caption class="hidden">
        ${label}
      </caption>
      <thead class="hidden">
        <tr>
          <th scope="col">${text("shared.diff.before")}</th>
          <th scope="col">${text("shared.diff.after")}</th>
          <th scope="col">${text("shared.diff.line")}</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map((line, index) => html`<${Line} key=${index} line=${line} />`)}
      </tbody>
    </table>
    ${truncated && html`<p class="quiet">${text("shared.diff.truncated")}</p>`}
  </div>`;
}

/** @param {{line: DiffLine}} properties */
function Line({ line }) {
  const { kind, before, after } = line;
  const said = kind === "added" ? text("shared.diff.added") : kind === "removed" ? text("shared.diff.removed") : "";
  return html`<tr class=${kind}>
    <td class="diff-number">${before}</td>
    <td class="diff-number">${after}</td>
    <td class="diff-line">
      <span class="diff-sign" aria-hidden="true">${SIGNS[kind]}</span>
      ${said && html`<span class="hidden">${said} </span>`}
      <${Words} line=${line} />
    </td>
  </tr>`;
}

/** @param {{line: DiffLine}} properties */
function Words({ line: { kind, text: words, changed } }) {
  if (!changed || changed[0] === changed[1]) return html`<span dir="auto">${words}</span>`;
  const [from, to] = changed;
  const tag = kind === "added" ? "ins" : "del";
  return html`<span dir="auto"
    >${words.slice(0, from)}<${tag}>${words.slice(from, to)}</${tag}>${words.slice(to)}</span
  >`;
}
