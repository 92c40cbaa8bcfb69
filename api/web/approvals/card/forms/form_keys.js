/** Keys inside the forms of a card. */

import { isComposing } from "../../../shared/keys.js";

/** Escape closes the form that is open; it decides nothing. @param {() => void} onClose */
export const closeOnEscape = (onClose) => (/** @type {KeyboardEvent} */ event) => {
  if (event.key !== "Escape" || isComposing(event)) return;
  event.stopPropagation();
  onClose();
};
