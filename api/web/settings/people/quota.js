/** Quotas as people write them. */

const GIGABYTE = 1e9;

/** Gigabytes as bytes; 0: no limit, null (nothing written): the limit of the service. @param {string} typed */
export const quotaBytes = (typed) => (typed.trim() === "" ? null : Math.round(Number(typed) * GIGABYTE));
