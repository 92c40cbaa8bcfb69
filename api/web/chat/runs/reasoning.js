/** What the model thought before it answered: folded away, and drawn only for who unfolds it. */

import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @param {{words: string, streaming: boolean}} properties */
export function Reasoning({ words, streaming }) {
  const [open, setOpen] = useState(false);
  return html`<details
    class="fold reasoning"
    onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}
  >
    <summary>${text(streaming ? "chat.thinking" : "chat.thoughts")}</summary>
    ${open && html`<div class="fold-body quiet">${words}</div>`}
  </details>`;
}
