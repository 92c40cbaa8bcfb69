/** Which items are chosen: as in the file managers that people know. */

/**
 * @typedef {object} Selection
 * @property {ReadonlySet<string>} chosen
 * @property {string | null} active where the keyboard is
 * @property {string | null} anchor where a range begins
 */

/** @type {Selection} */
export const NONE = { chosen: new Set(), active: null, anchor: null };

/** Choose one item alone. @param {string} id @returns {Selection} */
export const only = (id) => ({ chosen: new Set([id]), active: id, anchor: id });

/** Go to an item, and choose nothing. @param {Selection} selection @param {string} id @returns {Selection} */
export const at = (selection, id) => ({ ...selection, active: id, anchor: id });

/** Add an item, or take it away. @param {Selection} selection @param {string} id @returns {Selection} */
export function toggled(selection, id) {
  const chosen = new Set(selection.chosen);
  if (!chosen.delete(id)) chosen.add(id);
  return { chosen, active: id, anchor: id };
}

/**
 * Choose from the anchor to an item.
 * @param {Selection} selection
 * @param {string[]} ids in their order
 * @param {string} id
 * @returns {Selection}
 */
export function extended(selection, ids, id) {
  const anchor = selection.anchor ?? selection.active ?? id;
  const [from, to] = [Math.max(0, ids.indexOf(anchor)), ids.indexOf(id)];
  const range = ids.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { chosen: new Set(range), active: id, anchor };
}

/** @param {Selection} selection @param {string[]} ids @returns {Selection} */
export const all = (selection, ids) => ({ ...selection, chosen: new Set(ids), active: selection.active ?? ids[0] });

/** Choose nothing; the keyboard stays where it is. @param {Selection} selection @returns {Selection} */
export const cleared = (selection) => ({ ...selection, chosen: new Set() });

/**
 * What is left of a selection when the list is another: the keyboard goes on where the lost item was.
 * @param {Selection} selection
 * @param {string[]} before
 * @param {string[]} after
 * @returns {Selection}
 */
export function kept(selection, before, after) {
  const left = new Set(after);
  const chosen = new Set([...selection.chosen].filter((id) => left.has(id)));
  let { active } = selection;
  if (active !== null && !left.has(active)) {
    const was = before.indexOf(active);
    active = before.slice(was + 1).find((id) => left.has(id)) ?? after[Math.min(was, after.length) - 1] ?? null;
  }
  const anchor = selection.anchor !== null && left.has(selection.anchor) ? selection.anchor : active;
  return chosen.size === selection.chosen.size && active === selection.active && anchor === selection.anchor
    ? selection
    : { chosen, active, anchor };
}
