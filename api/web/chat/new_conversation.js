/** Beginning a new conversation. */

import { isCommand, isComposing } from "../shared/keys.js";
import { goToThread } from "../shared/location.js";
import { useEffect } from "../shared/preact.js";
import { side } from "../shared/sides.js";
import { focusComposer } from "./composer/focus.js";

/** Show an empty conversation, ready to type. */
export function newConversation() {
  goToThread(null);
  side.value = "chat";
  focusComposer();
}

/** Begin one by Ctrl+Shift+O. */
export function useNewConversationKey() {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (!isCommand(event) || !event.shiftKey || event.key.toLowerCase() !== "o" || isComposing(event)) return;
      event.preventDefault();
      newConversation();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
