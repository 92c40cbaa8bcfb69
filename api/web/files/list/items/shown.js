/** The list that is shown. */

import { signal } from "../../../shared/preact.js";

/** @type {import("../../../vendor/signals.js").Signal<import("./listing.js").Listing | null>} */
export const listing = signal(null);
