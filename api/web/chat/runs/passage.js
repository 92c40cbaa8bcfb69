/** Where a citation stands, for opening the file there. Pure. */

/**
 * @param {{version?: number | null, place?: string, uri?: string}} citation
 * @returns {{version?: number, start?: number, end?: number, place?: string}}
 */
export function passageOf({ version, place, uri }) {
  const [, query = ""] = /\?([^#]*)/.exec(uri ?? "") ?? [];
  const values = new URLSearchParams(query);
  const number = (/** @type {string} */ name) =>
    /^\d+$/.test(values.get(name) ?? "") ? Number(values.get(name)) : undefined;
  const passage = {
    version: number("version") ?? version ?? undefined,
    start: number("start"),
    end: number("end"),
    place: place || undefined,
  };
  return Object.fromEntries(Object.entries(passage).filter(([, value]) => value !== undefined));
}
