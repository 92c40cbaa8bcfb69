/** Undo and redo of what was done in this page. */

import { announce, notify, notifyProblem } from "../../shared/components/notices.js";
import { text } from "../../shared/texts/texts.js";
import { listing } from "../list/items/shown.js";
import { change, forget, keep, remember, takeLast } from "./own_changes.js";

/** Take back the last change of this page. */
export async function undoLast() {
  const ids = takeLast("done");
  if (!ids) announce(text("files.nothing_to_undo"));
  else await turn(ids, "undo");
}

/** Do again what was taken back last. */
export async function redoLast() {
  const ids = takeLast("undone");
  if (!ids) announce(text("files.nothing_to_redo"));
  else await turn(ids, "redo");
}

/** Tell what was done, with a way back. @param {string} words @param {Array<number | null>} changeIds */
export function tellDone(words, changeIds) {
  const ids = changeIds.filter((id) => id !== null);
  remember(ids);
  notify(words, ids.length ? { action: { title: text("files.undo"), run: () => undo(ids) } } : {});
}

/** @param {number[]} ids */
async function undo(ids) {
  forget(ids);
  await turn(ids, "undo");
}

/** @param {number[]} ids @param {"undo" | "redo"} way */
async function turn(ids, way) {
  /** @type {any[]} */
  let left = [];
  try {
    for (const id of way === "undo" ? [...ids].reverse() : ids) {
      const { result } = await change("POST", `/api/drive/changes/${id}/${way}`);
      left = left.concat(result.skipped);
    }
  } catch (problem) {
    notifyProblem(problem);
    return;
  }
  keep(way === "undo" ? "undone" : "done", ids);
  // No change of the drive tells that a share is back; folders are told of all that happens in them.
  const shown = listing.peek();
  if (shown?.kind === "shared") void shown.load({ quiet: true });
  if (left.length) notify(text("files.partly_undone", { reason: left[0].text ?? left[0].reason ?? "" }));
  else announce(text(way === "undo" ? "files.undone" : "files.redone"));
}
