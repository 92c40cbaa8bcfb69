/** The settings. */

import { html } from "../shared/preact.js";
import { loadTexts } from "../shared/texts/texts.js";

await loadTexts(import.meta.url);

/** What stands in the place of the files. */
export function Settings() {
  return html`<div class="settings"></div>`;
}
