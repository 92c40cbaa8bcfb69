/** What was written and not sent, kept for each thread in this browser. */

/** @typedef {{message: string, attachments: Array<import("../../shared/attachments.js").Attachment>}} Draft */

const KEPT = "drafts";
const MOST = 50;

/** @returns {Record<string, Draft>} */
function all() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

/** @param {string | null} threadId null: of a conversation that has not begun @returns {Draft} */
export function keptDraft(threadId) {
  return all()[threadId ?? ""] ?? { message: "", attachments: [] };
}

/** @param {string | null} threadId @param {Draft} draft */
export function keepDraft(threadId, draft) {
  const { [threadId ?? ""]: _before, ...others } = all();
  const isEmpty = !draft.message && !draft.attachments.length;
  if (isEmpty && !_before) return;
  const kept = Object.entries(others).slice(-MOST);
  if (!isEmpty) kept.push([threadId ?? "", draft]);
  try {
    localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // A browser without room keeps no draft; what is written stays in the field.
  }
}
