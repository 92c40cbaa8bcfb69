/** The conversation. */

import { html } from "../shared/preact.js";
import { loadTexts } from "../shared/texts/texts.js";

await loadTexts(import.meta.url);

/** What stands on the side of the assistant. */
export function ChatPane() {
  return html`<div class="chat" id="composer" tabindex="-1"></div>`;
}
