/** The files: folders, lists such as the trash, and one open file. */

import { html } from "../shared/preact.js";
import { loadTexts } from "../shared/texts/texts.js";

await loadTexts(import.meta.url);

/** What stands on the side of the files. */
export function FilesPane() {
  return html`<div class="files"></div>`;
}
