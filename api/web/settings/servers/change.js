/** What is sent to define a server, or to change it. */

/** @typedef {{key: number, name: string, value: string, isSet: boolean}} Secret a header or variable; its value is never read */
/** @typedef {import("../../shared/api/types.js").Schema<"ServerView">} Server */

let next = 1;

/** Rows of what has a name and, maybe, a value. @param {Record<string, boolean>} known @returns {Secret[]} */
export const secretRows = (known) =>
  Object.entries(known).map(([name, isSet]) => ({ key: next++, name, value: "", isSet }));

/** @returns {Secret} */
export const emptySecret = () => ({ key: next++, name: "", value: "", isSet: false });

/**
 * A text sets a value, true keeps the one that is there, null is none yet.
 * @param {Secret[]} rows
 * @returns {Record<string, string | true | null>}
 */
export function secretsOf(rows) {
  const named = rows.filter((row) => row.name.trim());
  return Object.fromEntries(named.map((row) => [row.name.trim(), row.value || (row.isSet ? true : null)]));
}

/**
 * @param {{name: string, type: string, isActive: boolean, timeout: string, address: string, command: string, args: string,
 *   allows: string[]}} typed
 * @param {Secret[]} secrets
 */
export function serverChange(typed, secrets) {
  const where =
    typed.type === "stdio"
      ? { command: typed.command.trim(), args: linesOf(typed.args), env: secretsOf(secrets) }
      : { base_url: typed.address.trim(), headers: secretsOf(secrets) };
  return {
    name: typed.name.trim(),
    type: typed.type,
    is_active: typed.isActive,
    timeout: Number(typed.timeout) || 60,
    allows: typed.allows,
    ...where,
  };
}

/** @param {string} words */
export const linesOf = (words) =>
  words
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Say where a server is, in a line. @param {Pick<Server, "type" | "base_url" | "command" | "args">} server */
export const whereIs = (server) =>
  server.type === "stdio" ? [server.command, ...server.args].join(" ") : server.base_url;
