/** Copying words to the person's clipboard. */

import { announce, notify } from "./components/notices.js";
import { text } from "./texts/texts.js";

/** Copy, and say whether that went well. @param {string} words @returns {Promise<boolean>} */
export async function copyText(words) {
  const isDone = (await byClipboard(words)) || byCommand(words);
  if (isDone) announce(text("shared.copied"));
  else notify(text("shared.not_copied"), { kind: "error" });
  return isDone;
}

/** @param {string} words */
async function byClipboard(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false;
  }
}

/** Over HTTP browsers give a page no clipboard, unless it comes from the own machine; the old command still copies. @param {string} words */
function byCommand(words) {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = words;
  field.className = "hidden";
  // In a dialogue nothing outside of it can have the focus.
  (before?.closest("dialog") ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}
