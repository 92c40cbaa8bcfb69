/** Removing a person for good: what becomes of the files, and the address typed once more. */

import { Problem } from "../../shared/api/problem.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Field, valueOf } from "../form/form.js";
import { FormDialog } from "../form/form_dialog.js";

/** @typedef {import("../../shared/api/types.js").Schema<"UserResult">} Account */

/**
 * @param {{account: Account, others: Account[], act: (query: Record<string, any>) => Promise<any>,
 *   close: (done?: boolean) => void}} properties
 */
export function Removal({ account, others, act, close }) {
  const [fate, setFate] = useState("hand_over");
  const save = async (/** @type {FormData} */ fields) => {
    if (valueOf(fields, "typed").trim().toLowerCase() !== account.email.toLowerCase())
      throw new Problem(422, { detail: text("people.remove_mismatch", { email: account.email }) });
    await act(fate === "hand_over" ? { hand_over_to: valueOf(fields, "heir") } : { delete_files: true });
    close(true);
  };
  return html`<${FormDialog}
    title=${text("people.remove_title", { email: account.email })}
    action=${text("people.remove")}
    danger
    onSave=${save}
    onClose=${close}
  >
    <p>${text("people.remove_hint")}</p>
    <fieldset class="settings-group">
      <legend>${text("people.files")}</legend>
      ${["hand_over", "delete"].map(
        (one) =>
          html`<label class="settings-tick"
            ><input type="radio" name="fate" checked=${fate === one} onChange=${() => setFate(one)} /><span
              >${text(`people.files.${one}`)}</span
            ></label
          >`,
      )}
    </fieldset>
    ${
      fate === "hand_over" &&
      html`<${Field} name="heir" label=${text("people.heir")}>
        ${others.map((one) => html`<option value=${one.id}>${one.email}</option>`)}
      <//>`
    }
    <${Field} name="typed" label=${text("people.remove_typed", { email: account.email })} required />
  <//>`;
}
