/** What is asked of the search, from the address of the place. */

const DAY = 24 * 3600 * 1000;
/** Days back, by the name in the address. @type {Record<string, number>} */
export const WITHIN = { day: 1, week: 7, month: 30, year: 365 };

/**
 * @param {Record<string, string>} query
 * @param {Date} [now]
 * @returns {Record<string, string | undefined>}
 */
export function parametersOf({ q = "", type, within, after, before, owner, folder }, now = new Date()) {
  const days = WITHIN[within];
  // Whole minutes: the same question is not asked again because a second has passed.
  const since = days && new Date(Math.floor((now.getTime() - days * DAY) / 60_000) * 60_000).toISOString();
  return {
    q: q.trim(),
    type,
    modified_after: since || (within === "own" && after ? new Date(`${after}T00:00`).toISOString() : undefined),
    modified_before: within === "own" && before ? new Date(`${before}T23:59:59`).toISOString() : undefined,
    belongs_to: owner,
    folder_id: folder,
  };
}
