/** What stands below the side of the files, whatever is shown there: uploads put themselves there while there are any. */

import { signal } from "./preact.js";

/** A component, or nothing. @type {import("../vendor/signals.js").Signal<any>} */
export const tray = signal(null);
