/** The title of the tab: how many approvals wait, the place that is shown, the program. */

import { effect, signal, useEffect } from "./preact.js";
import { text } from "./texts/texts.js";

const shown = signal("");
/** How many approvals wait for the person. */
export const waitingCount = signal(0);

/** Name the place in the tab while the component is there. @param {string} name */
export function useTitle(name) {
  useEffect(() => {
    shown.value = name;
    return () => (shown.value = "");
  }, [name]);
}

/** Keep the title true. */
export function followTitle() {
  effect(() => {
    const name = [shown.value, text("app.name")].filter(Boolean).join(" – ");
    document.title = waitingCount.value ? `(${waitingCount.value}) ${name}` : name;
  });
}
