/** One open file. */

import { html } from "../../shared/preact.js";

/** @param {{id: string, query: Record<string, string>}} properties */
export function Preview({ id }) {
  return html`<div class="preview" data-id=${id}></div>`;
}
