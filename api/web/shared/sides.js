/** Which side of the page is shown where there is room for one only. */

import { signal } from "./preact.js";

/** @type {import("../vendor/signals.js").Signal<"files" | "chat">} */
export const side = signal("files");
