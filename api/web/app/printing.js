/** What Ctrl+P prints: the side that the person works in; a file that is open before an empty conversation. */

import { turns } from "../chat/conversation/conversation.js";
import { place } from "../shared/location.js";
import { effect } from "../shared/preact.js";
import { endPrinting, isPrinting, printed } from "../shared/printing.js";
import { side } from "../shared/sides.js";

const NARROW = "(max-width: 50rem)";

/** Have one side printed, whoever asks for it. */
export function followPrinting() {
  effect(() => {
    document.body.dataset.printed = printed.value ?? "";
  });
  // By the time of the event the paper's width is the window's: what was there before it counts.
  const narrow = matchMedia(NARROW);
  let isNarrow = narrow.matches;
  narrow.addEventListener("change", () => !isPrinting.peek() && (isNarrow = narrow.matches));
  addEventListener("beforeprint", () => {
    printed.value ??= isNarrow ? side.peek() : workedIn();
    isPrinting.value = true;
  });
  addEventListener("afterprint", endPrinting);
}

/** @returns {"files" | "chat"} */
function workedIn() {
  if (document.activeElement?.closest(".chat-side")) return "chat";
  if (document.activeElement?.closest(".files-side")) return "files";
  return place.peek().path[0] === "file" || !turns.peek().length ? "files" : "chat";
}
