/** The files: folders, lists such as the trash, and one open file. */

import { setUploader } from "../shared/attachments.js";
import { Lazy } from "../shared/components/lazy.js";
import { place } from "../shared/location.js";
import { html } from "../shared/preact.js";
import { loadTexts } from "../shared/texts/texts.js";
import { mayAdd } from "./actions/folder_menu.js";
import { listing } from "./list/items/shown.js";
import { PlaceView, comesFrom } from "./list/place_view.js";
import { Navigation } from "./navigation/navigation.js";

await loadTexts(import.meta.url);
setUploader(bringIn);

/** What stands on the side of the files. */
export function FilesPane() {
  const { path, query } = place.value;
  return html`<div class="files">
    <${Navigation} />
    <div class="files-main"><${Shown} room=${path[0]} id=${path[1] ?? ""} query=${query} /></div>
  </div>`;
}

/** @param {{room: string, id: string, query: Record<string, string>}} properties */
function Shown({ room, id, query }) {
  if (room === "file") {
    comesFrom(id);
    return html`<${Lazy} key=${id} load=${loadPreview} id=${id} query=${query} />`;
  }
  if (room === "search") return html`<${Lazy} key="search" load=${loadSearch} query=${query} />`;
  if (room === "trash" || room === "recent" || room === "shared" || room === "starred")
    return html`<${PlaceView} key=${room} kind=${room} folderId="" />`;
  return html`<${PlaceView} key=${id} kind="folder" folderId=${id || "root"} />`;
}

const loadPreview = () => import("./preview/preview.js").then((module) => module.Preview);
const loadSearch = () => import("./search/search.js").then((module) => module.SearchResults);

/** Files that go with a message are put into the folder that is shown, if the person may. @param {File[]} files */
async function bringIn(files) {
  const { uploadFor } = await import("./uploads/uploads.js");
  const shown = listing.peek();
  return uploadFor(files, shown && mayAdd(shown) ? shown.folderId : "root");
}
