/** The title of the tab: how many approvals wait, the place that is shown, the program. */

import { waiting } from "../approvals/waiting_list.js";
import { placeName } from "../shared/location.js";
import { effect } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";

/** Keep it true. */
export function followTitle() {
  effect(() => {
    const name = [placeName.value, text("app.name")].filter(Boolean).join(" – ");
    const { length: count } = waiting.value;
    document.title = count ? `(${count}) ${name}` : name;
  });
}
