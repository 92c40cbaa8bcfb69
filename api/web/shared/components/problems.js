/** What went wrong, in words for people. */

import { Problem } from "../api/problem.js";
import { text } from "../texts/texts.js";

/**
 * Return what happened and what to do. The service's own sentences are in the person's language already.
 * @param {unknown} error
 * @returns {{title: string, hint: string, requestId: string}}
 */
export function describe(error) {
  if (!(error instanceof Problem))
    return { title: text("shared.problem.unexpected"), hint: text("shared.problem.reload"), requestId: "" };
  if (error.isOffline)
    return { title: text("shared.problem.offline"), hint: text("shared.problem.offline_hint"), requestId: "" };
  const wait = error.retryAfter ? text("shared.problem.wait", { count: error.retryAfter }) : "";
  return { title: error.message, hint: error.hint || wait, requestId: error.requestId };
}
