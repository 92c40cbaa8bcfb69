/** What a link leads to: a file, or a folder with what is in it. */

import { get, getAll } from "../../shared/api/request.js";
import { Icon } from "../../shared/components/icon.js";
import { Empty, Failure, Loading } from "../../shared/components/states.js";
import { href, place } from "../../shared/location.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { GuestFile } from "./guest_file.js";
import { GuestUpload } from "./guest_upload.js";
import { iconOf } from "../list/symbols.js";

/** @typedef {import("./guest.js").Item} Item */

/** @param {{base: string, top: Item}} properties */
export function GuestItem({ base, top }) {
  const [room, id] = place.value.path;
  const itemId = !id || id === "root" ? top.id : id;
  const [found, setFound] = useState(/** @type {{item: Item, children: Item[]} | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const path = `${base}/items/${encodeURIComponent(itemId)}`;
  const load = async () => {
    setError(null);
    // What the link leads to is here already, until it has changed.
    const item = itemId === top.id && !found ? top : await get(path, {}, { anonymous: true });
    const children = item.kind === "folder" ? await getAll(`${path}/children`) : [];
    setFound({ item, children });
  };
  const again = () => void load().catch(setError);
  useEffect(() => {
    setFound(null);
    again();
  }, [path, room]);
  if (error) return html`<${Failure} error=${error} onRetry=${again} />`;
  if (!found) return html`<${Loading} />`;
  const { item, children } = found;
  return html`<div class="guest-item">
    <h2><bdi>${item.name}</bdi></h2>
    ${item.parent_id && itemId !== top.id && html`<p><a href=${href(["folder", item.parent_id])}>${text("guest.up")}</a></p>`}
    ${
      item.kind === "file"
        ? html`<${GuestFile} key=${item.etag} path=${path} item=${item} onChange=${again} />`
        : html`<${GuestUpload} base=${base} folder=${item} onChange=${again} />
            <${Folder} base=${base} children=${children} />`
    }
  </div>`;
}

/** @param {{base: string, children: Item[]}} properties */
function Folder({ base, children }) {
  if (!children.length) return html`<${Empty} title=${text("guest.empty")} />`;
  return html`<ul class="guest-items">
    ${children.map(
      (one) =>
        html`<li key=${one.id}>
          <a href=${href([one.kind, one.id])}>
            ${
              one.has_thumbnail
                ? html`<img
                    src=${`${base}/items/${encodeURIComponent(one.id)}/thumbnail?size=64`}
                    alt=""
                    loading="lazy"
                  />`
                : html`<${Icon} name=${iconOf(one)} />`
            }
            <bdi>${one.name}</bdi><span class="quiet">${one.kind === "file" ? size(one.size) : ""}</span>
          </a>
        </li>`,
    )}
  </ul>`;
}
