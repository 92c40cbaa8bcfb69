/** The way from the drive to the folder that is shown; each step takes what is dropped on it. */

import { Icon } from "../../shared/components/icon.js";
import { notifyProblem } from "../../shared/components/notices.js";
import { href } from "../../shared/location.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { me } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { dropTarget } from "../list/dragging.js";
import { ancestorsOf } from "./ancestors.js";

/** @typedef {import("../list/items/ordering.js").Item} Item */

/** @param {{listing: import("../list/items/listing.js").Listing}} properties */
export function Crumbs({ listing }) {
  const folder = listing.folder.value;
  const [above, setAbove] = useState(/** @type {Item[] | null} */ (null));
  useEffect(() => {
    let isOver = false;
    if (folder) ancestorsOf(folder).then((found) => !isOver && setAbove(found), notifyProblem);
    return () => void (isOver = true);
  }, [folder]);
  if (listing.kind !== "folder") return html`<h2 class="crumbs">${text(`files.place.${listing.kind}`)}</h2>`;
  const steps = folder ? [...(above ?? []), folder] : [];
  // Until it is known what is above it, a folder of one's own counts as in one's own drive.
  const isForeign = (above && steps[0] && steps[0].parent_id !== null) || (folder && folder.owner !== me.value?.email);
  return html`<nav class="crumbs" aria-label=${text("files.way")}>
    <ol>
      ${isForeign && html`<li><a href=${href(["shared"])}>${text("files.place.shared")}</a></li>`}
      ${steps.map((step, index) => html`<${Crumb} key=${step.id} folder=${step} isLast=${index === steps.length - 1} />`)}
    </ol>
  </nav>`;
}

/** @param {{folder: Item, isLast: boolean}} properties */
function Crumb({ folder, isLast }) {
  const name = folder.name || text("files.place.drive");
  return html`<li>
    <${Icon} name="right" />
    ${
      isLast
        ? html`<h2 aria-current="page" title=${name}>${name}</h2>`
        : html`<a href=${href(["folder", folder.id])} title=${name} ...${dropTarget(folder.id)}>${name}</a>`
    }
  </li>`;
}
