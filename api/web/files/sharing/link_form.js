/** A new link: who has its address needs no account. */

import { Button } from "../../shared/components/button.js";
import { describe } from "../../shared/components/problems.js";
import { html, useId, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { termsOf } from "./terms.js";

/** @param {{onAdd: (share: object) => Promise<void>, isOpen: boolean, setOpen: (isOpen: boolean) => void}} properties */
export function LinkForm({ onAdd, isOpen, setOpen }) {
  const id = useId();
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {any} */ event) => {
    event.preventDefault();
    try {
      await onAdd(termsOf(Object.fromEntries(new FormData(event.currentTarget))));
      setOpen(false);
      setProblem("");
    } catch (error) {
      const { title, hint } = describe(error);
      setProblem([title, hint].filter(Boolean).join(" "));
    }
  };
  if (!isOpen)
    return html`<div><${Button} icon="link" onClick=${() => setOpen(true)}>${text("sharing.new_link")}<//></div>`;
  return html`<form class="link-form" onSubmit=${submit}>
    <p class="quiet">${text("sharing.link_means")}</p>
    <label class="field"
      ><span>${text("sharing.link_role")}</span>
      <select name="role">
        <option value="viewer">${text("sharing.viewer")}</option>
        <option value="editor">${text("sharing.editor")}</option>
      </select>
    </label>
    <label class="field"
      ><span>${text("sharing.ends")}</span>
      <select name="days">
        <option value="">${text("sharing.never")}</option>
        ${[1, 7, 30, 365].map((count) => html`<option value=${count}>${text("sharing.days", { count })}</option>`)}
      </select>
    </label>
    <label class="field"
      ><span>${text("sharing.password")}</span
      ><input name="password" type="password" autocomplete="new-password" aria-describedby=${`problem${id}`}
    /></label>
    <label class="field"
      ><span>${text("sharing.limit")}</span
      ><input name="limit" type="number" min="1" step="1" aria-describedby=${`problem${id}`}
    /></label>
    <p class="field-problem" id=${`problem${id}`} role="alert">${problem}</p>
    <div class="row">
      <${Button} kind="main" type="submit">${text("sharing.make_link")}<//>
      <${Button} onClick=${() => setOpen(false)}>${text("shared.cancel")}<//>
    </div>
  </form>`;
}
