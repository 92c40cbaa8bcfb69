/** What a change means for a list. */

/** @typedef {import("./ordering.js").Item} Item */
/** @typedef {"folder" | "trash" | "recent" | "shared" | "starred"} Kind */

/**
 * Say whether an item belongs into a list; null: only the service knows.
 * @param {Item} item
 * @param {Kind} kind
 * @param {string} folderId of a folder's list
 * @param {boolean} isShown
 */
export function belongs(item, kind, folderId, isShown) {
  if (kind === "trash") return item.trashed_at !== null;
  if (item.trashed_at !== null) return false;
  if (kind === "folder") return item.parent_id === folderId;
  if (kind === "starred") return item.starred;
  return isShown;
}

const MAX_LOOKED_UP = 40;

/**
 * Return what to ask the service for after a change: nothing, some items, or the whole list.
 * @param {import("../../../shared/drive_events.js").DriveChange} change
 * @param {Kind} kind
 * @param {string} folderId
 * @param {(id: string) => boolean} isShown
 * @returns {{reload: boolean, ids: string[]}}
 */
export function concerned(change, kind, folderId, isShown) {
  const { item_ids: items = [], folder_ids: folders = [] } = change;
  if (change.type === "reset") return { reload: true, ids: [] };
  const isHere = kind !== "folder" || folders.includes(folderId);
  const ids = [...new Set([...items.filter((id) => isHere || isShown(id)), ...folders.filter(isShown)])];
  if (kind !== "folder") return { reload: true, ids };
  if (isHere && (!change.complete || ids.length > MAX_LOOKED_UP)) return { reload: true, ids };
  return { reload: false, ids: ids.slice(0, MAX_LOOKED_UP) };
}
