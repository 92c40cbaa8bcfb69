/** The field in which one writes to the assistant, for whoever wants it to have the focus. */

/** Put the focus there once it is drawn. */
export function focusComposer() {
  requestAnimationFrame(() => document.getElementById("composer")?.focus());
}
