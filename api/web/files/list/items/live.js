/** Keeps a list as the drive is while it is shown. */

import { get } from "../../../shared/api/request.js";
import { onDriveChange } from "../../../shared/drive_events.js";
import { madeHere } from "../../actions/own_changes.js";
import { concerned } from "./belonging.js";
import { findItem } from "./find_item.js";
import { watchIndexing } from "./indexing.js";
import { mark } from "./marks.js";

/** @typedef {import("./listing.js").Listing} Listing */

const GATHER_MS = 150;
const RETRY_MS = 3000;

/**
 * Follow the changes of the drive. Returns what ends it.
 * @param {Listing} listing
 */
export function keepLive(listing) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let reloading;
  const reloadIn = (/** @type {number} */ milliseconds) => {
    clearTimeout(reloading);
    reloading = setTimeout(async () => {
      await listing.load({ quiet: true });
      if (listing.error.peek()) reloadIn(RETRY_MS);
    }, milliseconds);
  };
  const end = onDriveChange((change) => {
    const { reload, ids } = concerned(change, listing.kind, listing.folderId, (id) => listing.has(id));
    if (reload) reloadIn(GATHER_MS);
    // No event tells of this change again: a list that could not be brought up to date is loaded anew.
    if (ids.length && listing.kind === "folder") lookUp(listing, ids, change).catch(() => reloadIn(RETRY_MS));
  });
  const endIndexing = watchIndexing(
    () => (listing.isLoading.peek() ? [] : listing.items.peek()),
    (moved) => listing.take(moved),
  );
  return () => {
    end();
    clearTimeout(reloading);
    endIndexing();
  };
}

/** @param {Listing} listing @param {string[]} ids @param {import("../../../shared/drive_events.js").DriveChange} change */
async function lookUp(listing, ids, change) {
  const [found, by] = await Promise.all([Promise.all(ids.map(findItem)), whoMade(change)]);
  const changed = found.filter((item) => item !== null);
  const gone = ids.filter((_, index) => !found[index]);
  listing.take(changed, gone);
  if (by) {
    const touched = new Set(change.item_ids);
    mark(
      changed.map((item) => item.id).filter((id) => touched.has(id)),
      by,
    );
  }
}

/** @param {import("../../../shared/drive_events.js").DriveChange} change */
async function whoMade(change) {
  const id = Number(change.id);
  if (await madeHere(id)) return null;
  if (!change.mine) return "other";
  const { items } = await get("/api/drive/changes", { limit: 20 }).catch(() => ({ items: [] }));
  return items.find((/** @type {any} */ one) => one.id === id)?.run_id ? "assistant" : null;
}
