/** Words to the assistant: why a call is rejected, or what to do instead. */

import { Button } from "../../../shared/components/button.js";
import { html, useId, useLayoutEffect, useRef, useState } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";
import { closeOnEscape } from "./form_keys.js";

const MOST = 10_000;

/** @param {{kind: "reject" | "respond", onDecide: (decision: import("../deciding.js").Decision) => void, onClose: () => void}} properties */
export function WordsForm({ kind, onDecide, onClose }) {
  const id = useId();
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [isMissing, setMissing] = useState(false);
  useLayoutEffect(() => field.current?.focus(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const message = field.current?.value.trim() ?? "";
    if (kind === "respond" && !message) return setMissing(true);
    return onDecide(message ? { type: kind, message } : { type: kind });
  };
  return html`<form class="approval-form" onSubmit=${submit} onKeyDown=${closeOnEscape(onClose)}>
    <label class="field"
      ><span>${text(`approval.${kind}_label`)}</span>
      <textarea
        ref=${field}
        rows="2"
        maxlength=${MOST}
        aria-invalid=${isMissing ? "true" : undefined}
        aria-describedby=${isMissing ? `missing${id}` : undefined}
      ></textarea>
    </label>
    ${isMissing && html`<p class="field-problem" role="alert" id=${`missing${id}`}>${text("approval.wrong.required")}</p>`}
    <div class="row">
      <${Button} kind="main" type="submit">${text(`approval.${kind}_send`)}<//>
      <${Button} onClick=${onClose}>${text("shared.cancel")}<//>
    </div>
  </form>`;
}
