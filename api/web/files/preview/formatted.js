/** A text in Markdown as it is meant; as it is written where that can't be loaded. */

import { Lazy } from "../../shared/components/lazy.js";
import { html } from "../../shared/preact.js";

const load = () =>
  import("../../shared/markdown/markdown.js").then(
    (module) => module.Markdown,
    () => Written,
  );

/** @param {{source: string}} properties */
export function Formatted({ source }) {
  return html`<${Lazy} load=${load} source=${source} level=${3} />`;
}

/** @param {{source: string}} properties */
function Written({ source }) {
  return html`<pre class="written" dir="auto">${source}</pre>`;
}
