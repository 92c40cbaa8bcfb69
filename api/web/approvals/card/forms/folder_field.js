/** A folder, shown by its path and chosen in the tree of folders. */

import { get } from "../../../shared/api/request.js";
import { Icon } from "../../../shared/components/icon.js";
import { notifyProblem } from "../../../shared/components/notices.js";
import { html, useEffect, useState } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";

/**
 * @param {object} properties
 * @param {Record<string, any>} properties.about attributes of the field, its name among them
 * @param {string} properties.label
 * @param {string} properties.value an id or a path; "" for none. It stays as it is until another folder is chosen
 * @param {string[]} properties.barred ids of folders that can't be the target, nor what is in them
 */
export function FolderField({ about, label, value, barred }) {
  const [chosen, setChosen] = useState(value);
  const [folder, setFolder] = useState(/** @type {any} */ (null));
  useEffect(() => {
    if (!chosen) return undefined;
    let isShown = true;
    get(`/api/drive/items/${encodeURIComponent(chosen)}`).then(
      (found) => isShown && setFolder(found),
      () => isShown && setFolder(null),
    );
    return () => (isShown = false);
  }, [chosen]);
  const choose = async () => {
    try {
      const { chooseFolder } = await import("../../../files/actions/picker/picker.js");
      const id = await chooseFolder(folder, barred);
      if (!id || id === folder?.id) return;
      // No other folder's path stands there until its own is known.
      setFolder(null);
      setChosen(id);
    } catch (problem) {
      notifyProblem(problem);
    }
  };
  const path = folder?.path ?? (chosen.startsWith("/") ? chosen : "");
  const shown = path === "/" ? text("approval.grant_root") : path || text("approval.choose_folder");
  return html`<button
      type="button"
      class="button approval-folder"
      id=${about.id}
      aria-describedby=${about["aria-describedby"]}
      aria-haspopup="dialog"
      aria-label=${`${label}: ${shown}`}
      onClick=${choose}
    >
      <${Icon} name="folder" /><bdi>${shown}</bdi></button
    ><input type="hidden" name=${about.name} value=${chosen} />`;
}
