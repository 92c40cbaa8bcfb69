/** The approvals that wait for the person, as they were when they were asked for last. */

import { get } from "../shared/api/request.js";
import { signal } from "../shared/preact.js";

/** @typedef {import("../shared/api/types.js").Schema<"ApprovalView">} Approval */

/** @type {import("../vendor/signals.js").Signal<Approval[]>} */
export const waiting = signal([]);

/** The approval that the person wants to see, until its card has the focus; "" for none. */
export const wanted = signal("");

let asked = 0;

/**
 * Ask again. What waited stays shown while the service is not reached: the page says that elsewhere. An answer that is
 * overtaken by a later question's is dropped.
 */
export async function look() {
  const number = ++asked;
  const found = await get("/api/approvals").catch(() => null);
  if (found && number === asked && idsOf(found.items) !== idsOf(waiting.peek())) waiting.value = found.items;
}

/** @param {Approval[]} approvals */
const idsOf = (approvals) => approvals.map((one) => one.approval_id).join(" ");

/** What the first call of an approval will do. @param {Approval} approval */
export const sentenceOf = ({ actions }) => actions[0].preview.split("\n", 1)[0];
