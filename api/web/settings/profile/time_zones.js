/** The time zones that a person may name. */

/** @returns {string[]} IANA names; UTC is not among those that browsers list */
export function timeZones() {
  const known = Intl.supportedValuesOf("timeZone");
  return known.includes("UTC") ? known : ["UTC", ...known];
}
