/** One action on many items, with the choice at a conflict of names, and what became of each. */

import { notify, notifyProblem } from "../../shared/components/notices.js";
import { text } from "../../shared/texts/texts.js";
import { listing } from "../list/items/shown.js";
import { change } from "./own_changes.js";
import { tellDone } from "./reversal.js";

/** @typedef {import("../list/items/ordering.js").Item} Item */
/** @typedef {"move" | "copy" | "trash" | "restore" | "delete" | "star" | "unstar"} BulkAction */
/** @typedef {{id: string, item: Item | null, problem: any}} Result */

const MOST = 500;

/**
 * Do it, take the outcome into the list, and tell it with a way back.
 * @param {BulkAction} action
 * @param {Item[]} items
 * @param {{parentId?: string}} [where]
 */
export async function onItems(action, items, { parentId } = {}) {
  const names = new Map(items.map((item) => [item.id, item.name]));
  try {
    const first = await send(action, [...names.keys()], parentId, "fail");
    const { results, changeIds } = await resolved(action, first, parentId, names);
    takeIn(action, results);
    tell(action, results, changeIds, names);
  } catch (problem) {
    notifyProblem(problem);
  }
}

/**
 * @param {BulkAction} action
 * @param {string[]} ids
 * @param {string | undefined} parentId
 * @param {"fail" | "rename" | "replace"} onConflict
 */
async function send(action, ids, parentId, onConflict) {
  /** @type {Result[]} */
  let results = [];
  /** @type {Array<number | null>} */
  const changeIds = [];
  for (let start = 0; start < ids.length; start += MOST) {
    const part = ids.slice(start, start + MOST).map((id) => ({ id }));
    const json = { action, items: part, parent_id: parentId, on_conflict: onConflict };
    const { result, changeId } = await change("POST", "/api/drive/items/bulk", { json });
    results = results.concat(result.results);
    changeIds.push(changeId);
  }
  return { results, changeIds };
}

/**
 * Ask about names that are taken, and do those again as the person chose.
 * @param {BulkAction} action
 * @param {{results: Result[], changeIds: Array<number | null>}} first
 * @param {string | undefined} parentId
 * @param {Map<string, string>} names
 */
async function resolved(action, first, parentId, names) {
  const taken = first.results.filter((one) => one.problem?.code === "name_conflict");
  if (!taken.length) return first;
  const { askConflict } = await import("./conflict/conflict.js");
  const choice = await askConflict(taken.map((one) => names.get(one.id) ?? ""));
  const rest = first.results.filter((one) => !taken.includes(one));
  if (!choice) return { results: rest, changeIds: first.changeIds };
  const again = await send(
    action,
    taken.map((one) => one.id),
    parentId,
    choice,
  );
  return { results: rest.concat(again.results), changeIds: first.changeIds.concat(again.changeIds) };
}

/** @param {BulkAction} action @param {Result[]} results */
function takeIn(action, results) {
  const done = results.filter((one) => !one.problem);
  const items = done.map((one) => one.item).filter((item) => item !== null);
  listing.peek()?.take(items, action === "delete" ? done.map((one) => one.id) : []);
}

/** @param {BulkAction} action @param {Result[]} results @param {Array<number | null>} changeIds @param {Map<string, string>} names */
function tell(action, results, changeIds, names) {
  const done = results.filter((one) => !one.problem);
  const failed = results.find((one) => one.problem);
  const count = done.length;
  if (count) tellDone(text(`files.done.${action}`, { count, name: names.get(done[0].id) ?? "" }), changeIds);
  if (failed) {
    const left = { count: results.length - count, name: names.get(failed.id) ?? "", reason: failed.problem.detail };
    notify(text("files.left_alone", left), { kind: "error" });
  }
}
