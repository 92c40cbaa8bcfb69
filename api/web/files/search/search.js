/** What a search found. */

import { html } from "../../shared/preact.js";

/** @param {{query: Record<string, string>}} properties */
export function SearchResults({ query }) {
  return html`<div class="search-results" data-words=${query.q}></div>`;
}
