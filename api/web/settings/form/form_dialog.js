/** A form over the page. */

import { Button } from "../../shared/components/button.js";
import { Dialog } from "../../shared/components/dialogs.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Form } from "./form.js";

/**
 * @param {{title: string, action: string, onSave: (fields: FormData) => Promise<any>, onClose: () => void,
 *   danger?: boolean, class?: string, children?: any}} properties
 */
export function FormDialog({ title, action, onSave, onClose, danger, class: extra, children }) {
  const cancel = html`<${Button} onClick=${() => onClose()}>${text("shared.cancel")}<//>`;
  return html`<${Dialog} title=${title} class=${extra} onClose=${() => onClose()}>
    <${Form} action=${action} onSave=${onSave} danger=${danger} more=${cancel}>${children}<//>
  <//>`;
}
