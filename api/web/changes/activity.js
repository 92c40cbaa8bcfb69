/** What was changed in the drive, newest first. */

import { html } from "../shared/preact.js";
import { loadTexts } from "../shared/texts/texts.js";

await loadTexts(import.meta.url);

/** What stands in the place of the files. */
export function Activity() {
  return html`<div class="activity"></div>`;
}
