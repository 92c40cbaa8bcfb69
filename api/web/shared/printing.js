/** Whether the page is being printed: what draws only a part of itself draws all of it then. */

import { signal } from "./preact.js";

export const isPrinting = signal(false);

/** What is on paper: one side of the page, the other is left out. @type {import("../vendor/signals.js").Signal<"files" | "chat" | null>} */
export const printed = signal(null);

/** Print one side of the page. @param {"files" | "chat"} side */
export function printSide(side) {
  printed.value = side;
  isPrinting.value = true;
  // What is drawn for the paper is there after the next picture; the page waits while the dialogue is open.
  requestAnimationFrame(() =>
    setTimeout(() => {
      print();
      endPrinting();
    }),
  );
}

/** Go back to what is on the screen. */
export function endPrinting() {
  isPrinting.value = false;
  printed.value = null;
}
