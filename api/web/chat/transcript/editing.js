/** The message that is being changed, by the id of its run. */

import { signal } from "../../shared/preact.js";

/** @type {import("../../vendor/signals.js").Signal<string | null>} */
export const editing = signal(null);
