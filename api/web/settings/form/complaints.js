/** What the service says of each field of a form. */

import { Problem } from "../../shared/api/problem.js";

/**
 * Take a refusal (422) apart: a sentence for each field that the form has; complete if nothing else is wrong.
 * `detail` has the sentences in the person's language, `details.errors` the places.
 * @param {unknown} error
 * @param {string[]} names
 * @returns {{fields: Record<string, string>, isComplete: boolean}}
 */
export function complaints(error, names) {
  /** @type {Record<string, string>} */
  const fields = {};
  const errors = error instanceof Problem && error.status === 422 ? error.details.errors : null;
  if (!Array.isArray(errors) || !(error instanceof Problem)) return { fields, isComplete: false };
  const sentences = error.message.replace(/[.。]$/, "").split(/; |；/);
  let known = 0;
  for (const { where, problem } of errors) {
    const name = String(where).split(".")[1];
    if (!names.includes(name)) continue;
    known += 1;
    const said = sentences.find((one) => one.startsWith(`${where}: `));
    fields[name] = said ? said.slice(where.length + 2) : problem;
  }
  return { fields, isComplete: known === errors.length };
}
