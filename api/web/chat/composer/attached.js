/** What goes with a message, as chips. */

import { IconButton } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @param {{items: Array<import("../../shared/attachments.js").Attachment>, onRemove: (id: string) => void}} properties */
export function Attached({ items, onRemove }) {
  if (!items.length) return null;
  return html`<ul class="chips" aria-label=${text("chat.attached")}>
    ${items.map(
      ({ id, kind, name }) =>
        html`<li key=${id} class="chip">
          <${Icon} name=${kind === "folder" ? "folder" : "file"} /><span>${name}</span>
          <${IconButton} icon="close" label=${text("chat.detach", { name })} onClick=${() => onRemove(id)} />
        </li>`,
    )}
  </ul>`;
}
