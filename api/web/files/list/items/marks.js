/** What others and the assistant changed a moment ago: marked for some seconds. */

import { signal } from "../../../shared/preact.js";

/** @typedef {"assistant" | "other"} By */

const LASTS_MS = 8000;

/** @type {import("../../../vendor/signals.js").Signal<ReadonlyMap<string, By>>} */
export const marks = signal(new Map());

/** @param {string[]} ids @param {By} by */
export function mark(ids, by) {
  marks.value = new Map([...marks.peek(), ...ids.map((id) => /** @type {[string, By]} */ ([id, by]))]);
  setTimeout(() => {
    const left = new Map(marks.peek());
    for (const id of ids) left.delete(id);
    marks.value = left;
  }, LASTS_MS);
}
