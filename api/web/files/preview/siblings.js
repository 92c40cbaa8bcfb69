/** The files before and after one in its folder. */

import { get } from "../../shared/api/request.js";
import { onDriveChange } from "../../shared/drive_events.js";
import { useEffect, useState } from "../../shared/preact.js";
import { compareNames } from "../../shared/texts/format.js";

/** @typedef {{id: string, name: string}} Neighbour */

const MOST = 1000;
/** The folder that was asked for last. @type {{id: string, files: Promise<Neighbour[]>} | null} */
let known = null;

/**
 * @param {{id: string, parent_id: string | null} | null} item
 * @returns {{previous: Neighbour | null, next: Neighbour | null}}
 */
export function useSiblings(item) {
  const [files, setFiles] = useState(/** @type {Neighbour[]} */ ([]));
  const folderId = item?.parent_id ?? null;
  useEffect(() => {
    let isHere = true;
    const show = () => {
      if (folderId) filesIn(folderId).then((found) => isHere && setFiles(found));
    };
    const end = onDriveChange((change) => {
      if (change.type === "change" && !change.folder_ids?.includes(folderId ?? "")) return;
      known = null;
      show();
    });
    show();
    return () => {
      isHere = false;
      end();
    };
  }, [folderId]);
  const at = files.findIndex((file) => file.id === item?.id);
  return { previous: files[at - 1] ?? null, next: at < 0 ? null : (files[at + 1] ?? null) };
}

/** A folder with too many items has no neighbours. @param {string} id @returns {Promise<Neighbour[]>} */
function filesIn(id) {
  if (known?.id === id) return known.files;
  const files = get(`/api/drive/items/${id}/children`, { limit: MOST }).then(
    (page) =>
      page.cursor
        ? []
        : page.items
            .filter((/** @type {any} */ one) => one.kind === "file")
            .sort((/** @type {any} */ one, /** @type {any} */ other) => compareNames(one.name, other.name)),
    () => [],
  );
  known = { id, files };
  return files;
}
