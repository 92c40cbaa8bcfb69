/** The selection of the list that is shown. */

import { computed, signal } from "../../../shared/preact.js";
import { listing } from "../items/shown.js";
import { NONE } from "./selection.js";

/** @type {import("../../../vendor/signals.js").Signal<import("./selection.js").Selection>} */
export const selection = signal(NONE);

/** The items that are chosen, in the order of the list. */
export const chosenItems = computed(() => {
  const { chosen } = selection.value;
  return chosen.size ? (listing.value?.items.value ?? []).filter((item) => chosen.has(item.id)) : [];
});

/** The item whose name is being changed. @type {import("../../../vendor/signals.js").Signal<string | null>} */
export const renaming = signal(null);

/** What was cut or copied, to be put elsewhere. @type {import("../../../vendor/signals.js").Signal<{items: import("../items/ordering.js").Item[], isCut: boolean} | null>} */
export const clipboard = signal(null);
