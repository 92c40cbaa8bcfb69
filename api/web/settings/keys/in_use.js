/** Which keys still count. */

/** @typedef {import("../../shared/api/types.js").Schema<"ApiKey">} Key */

/**
 * @param {Pick<Key, "revoked_at" | "expires_at">} key
 * @param {number} [now]
 */
export const isInUse = (key, now = Date.now()) =>
  !key.revoked_at && (!key.expires_at || new Date(key.expires_at).getTime() > now);
