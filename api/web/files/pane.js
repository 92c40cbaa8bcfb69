/** The files: folders, lists such as the trash, and one open file. */

import { Lazy } from "../shared/components/lazy.js";
import { place } from "../shared/location.js";
import { html } from "../shared/preact.js";
import { loadTexts } from "../shared/texts/texts.js";

await loadTexts(import.meta.url);

const preview = () => import("./preview/preview.js").then((module) => module.Preview);

/** What stands on the side of the files. */
export function FilesPane() {
  const { path, query } = place.value;
  if (path[0] === "file") return html`<${Lazy} key="file" load=${preview} id=${path[1]} query=${query} />`;
  return html`<div class="files"></div>`;
}
