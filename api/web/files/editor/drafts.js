/** What was written and not saved yet, kept by this browser. */

/** @typedef {{text: string, etag: string, version: number, at: string}} Draft */

const PREFIX = "file-draft:";
const WEEKS = 4 * 7 * 24 * 3600 * 1000;

/** @param {string} id @returns {Draft | null} */
export function draftOf(id) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + id) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} id @param {Omit<Draft, "at">} draft */
export function keepDraft(id, draft) {
  forgetOld();
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify({ ...draft, at: new Date().toISOString() }));
  } catch {
    // A browser that is full keeps no draft; the page still warns before it is left.
  }
}

/** @param {string} id */
export const forgetDraft = (id) => localStorage.removeItem(PREFIX + id);

function forgetOld(now = Date.now()) {
  for (const key of Object.keys(localStorage).filter((one) => one.startsWith(PREFIX))) {
    const draft = draftOf(key.slice(PREFIX.length));
    if (!draft || now - Date.parse(draft.at) > WEEKS) localStorage.removeItem(key);
  }
}
