/** The question what to do with names that are taken. */

import { Button } from "../../../shared/components/button.js";
import { Dialog, showDialog } from "../../../shared/components/dialogs.js";
import { html } from "../../../shared/preact.js";
import { loadTexts, text } from "../../../shared/texts/texts.js";

await loadTexts(import.meta.url);

/**
 * Ask; undefined: the person leaves those items where they are.
 * @param {string[]} names
 * @returns {Promise<"rename" | "replace" | undefined>}
 */
export function askConflict(names) {
  return showDialog((close) => html`<${Conflict} names=${names} close=${close} />`);
}

/** @param {{names: string[], close: (choice?: string) => void}} properties */
function Conflict({ names, close }) {
  const count = names.length;
  return html`<${Dialog}
    title=${text("name_conflict.title", { count, name: names[0] })}
    role="alertdialog"
    onClose=${() => close()}
    footer=${html`<${Button} onClick=${() => close()}>${text("shared.cancel")}<//>
      <${Button} onClick=${() => close("replace")}>${text("name_conflict.replace")}<//>
      <${Button} kind="main" autofocus onClick=${() => close("rename")}>${text("name_conflict.keep_both")}<//>`}
  >
    <p>${text("name_conflict.body", { count })}</p>
  <//>`;
}
