/** The field in which a text is written. */

import { isComposing } from "../../shared/keys.js";
import { html, useLayoutEffect, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { indent, positionOf } from "./typing.js";

/**
 * Tab indents. After Escape the next one leaves the field, so that nobody is caught in it.
 * @param {{value: string, label: string, isCode: boolean, onInput: (value: string) => void}} properties
 */
export function Field({ value, label, isCode, onInput }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const leaves = useRef(false);
  const [at, setAt] = useState({ line: 1, column: 1 });
  const look = () => field.current && setAt(positionOf(field.current.value, field.current.selectionEnd));
  useLayoutEffect(() => {
    const area = /** @type {HTMLTextAreaElement} */ (field.current);
    // A field shows the end of what it was given, unless the cursor stands at the top before it has the focus.
    area.setSelectionRange(0, 0);
    area.focus({ preventScroll: true });
    area.scrollTop = 0;
    document.addEventListener("selectionchange", look);
    return () => document.removeEventListener("selectionchange", look);
  }, []);
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (isComposing(event)) return;
    if (event.key === "Tab" && !leaves.current && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      shift(/** @type {HTMLTextAreaElement} */ (field.current), event.shiftKey);
    }
    if (event.key !== "Shift") leaves.current = event.key === "Escape";
  };
  return html`<div class="editor-field">
    <textarea
      ref=${field}
      class=${isCode ? "code" : ""}
      aria-label=${label}
      aria-describedby="editor-keys"
      spellcheck=${!isCode}
      wrap=${isCode ? "off" : "soft"}
      dir=${isCode ? "ltr" : "auto"}
      value=${value}
      onInput=${(/** @type {any} */ event) => onInput(event.currentTarget.value)}
      onKeyDown=${press}
    ></textarea>
    <div class="editor-foot quiet">
      <span>${text("editor.position", at)}</span><span id="editor-keys">${text("editor.keys")}</span>
    </div>
  </div>`;
}

/** @param {HTMLTextAreaElement} field @param {boolean} outward */
function shift(field, outward) {
  const change = indent(field.value, field.selectionStart, field.selectionEnd, outward);
  field.setSelectionRange(change.from, change.to);
  // The one way that leaves the browser's own undo whole.
  if (!document.execCommand("insertText", false, change.words)) {
    field.setRangeText(change.words);
    field.dispatchEvent(new Event("input"));
  }
  field.setSelectionRange(change.start, change.end);
}
