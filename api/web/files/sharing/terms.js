/** The terms of a link, from the fields of its form. */

const HOURS = 24;

/**
 * @param {Record<string, any>} fields what is empty is no term
 * @returns {{role: string, expires_in_hours?: number, password?: string, max_downloads?: number}}
 */
export function termsOf({ role, days, password, limit }) {
  return {
    role: role || "viewer",
    ...(days && { expires_in_hours: Number(days) * HOURS }),
    ...(password && { password }),
    ...(limit && { max_downloads: Number(limit) }),
  };
}
