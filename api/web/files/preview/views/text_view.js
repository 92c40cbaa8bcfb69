/** The text of a file, a part of it at a time, with a passage marked. */

import { Button } from "../../../shared/components/button.js";
import { Empty, Failure, Loading } from "../../../shared/components/states.js";
import { html, useEffect, useRef, useState } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";
import { textOf } from "../content.js";
import { cut } from "../passage.js";

/** @typedef {import("../content.js").TextPart} TextPart */

const PART = 200_000;

/**
 * Fetch the text of a file: first the part with the passage, then what the person wants to see.
 * @param {import("../content.js").File} file
 * @param {import("../passage.js").Passage} passage
 */
export function useText(file, passage) {
  const [parts, setParts] = useState(/** @type {TextPart[]} */ ([]));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const version = passage.version ?? file.version;
  const load = (/** @type {any} */ part, /** @type {(all: TextPart[], loaded: TextPart) => TextPart[]} */ join) => {
    setError(null);
    textOf(file, version, { limit: PART, ...part }).then((loaded) => setParts((all) => join(all, loaded)), setError);
  };
  const begin = () =>
    load(passage.start === null ? {} : { start: passage.start, end: passage.end ?? undefined }, (_, loaded) => [
      loaded,
    ]);
  useEffect(begin, [file.id, file.version, version, passage.start, passage.end]);
  const first = parts[0];
  const last = parts[parts.length - 1];
  const before = first?.start ?? 0;
  return {
    parts,
    error,
    begin,
    passage: parts.find((part) => part.passage)?.passage ?? null,
    more: last?.truncated ? () => load({ offset: last.end }, (all, loaded) => [...all, loaded]) : null,
    earlier: before
      ? () =>
          load({ offset: Math.max(0, before - PART), limit: Math.min(PART, before) }, (all, loaded) => [loaded, ...all])
      : null,
  };
}

/**
 * @param {{file: import("../content.js").File, passage: import("../passage.js").Passage, lines?: boolean, label: string, note?: string}} properties
 *   `lines`: they are numbered, and none is broken
 */
export function TextView({ file, passage, lines = false, label, note }) {
  const shown = useText(file, passage);
  const mark = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [shown.passage]);
  if (shown.error) return html`<${Failure} error=${shown.error} onRetry=${shown.begin} />`;
  if (!shown.parts.length) return html`<${Loading} />`;
  const whole = shown.parts.map((part) => part.text).join("");
  if (!whole) return html`<${Empty} icon="text" title=${text("preview.empty")} />`;
  const offset = shown.parts[0].start;
  const [before, marked, after] = shown.passage
    ? cut(whole, shown.passage.start - offset, shown.passage.end - offset)
    : [whole, "", ""];
  const written = html`${before}${marked && html`<mark ref=${mark} aria-label=${text("preview.cited")}>${marked}</mark>`}${after}`;
  return html`<div class=${`text-view ${lines ? "numbered" : ""}`} tabindex="0" role="region" aria-label=${label}>
    ${note && html`<p class="text-note quiet">${note}</p>`}
    ${shown.earlier && html`<${Button} icon="up" onClick=${shown.earlier}>${text("preview.earlier")}<//>`}
    ${
      lines
        ? html`<${NumberedText} first=${shown.parts[0].first_line} text=${whole} written=${written} />`
        : html`<div class="text-lines"><pre class="written" dir="auto">${written}</pre></div>`
    }
    ${shown.more && html`<${Button} icon="expand" onClick=${shown.more}>${text("preview.more")}<//>`}
  </div>`;
}

/**
 * A text with the numbers of its lines.
 * @param {{first?: number, text: string, written: any}} properties `written`: the text as it is drawn, with marks
 */
export function NumberedText({ first = 1, text: whole, written }) {
  return html`<div class="text-lines">
    <pre class="line-numbers" aria-hidden="true">${numbers(first, whole)}</pre>
    <pre class="written" dir="ltr">${written}</pre>
  </div>`;
}

/** @param {number} first @param {string} whole */
function numbers(first, whole) {
  const count = whole.split("\n").length - (whole.endsWith("\n") ? 1 : 0);
  return Array.from({ length: count }, (_, index) => first + index).join("\n");
}
