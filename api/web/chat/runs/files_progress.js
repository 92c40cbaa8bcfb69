/** How far the reading of many files is. */

import { Icon } from "../../shared/components/icon.js";
import { goToFile } from "../../shared/location.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

const ICONS = { read: "check", nothing: "file", failed: "warning" };

/** @param {{files: Array<{item_id: string, path: string, status: string}>, total: number}} properties */
export function FilesProgress({ files, total }) {
  const [open, setOpen] = useState(false);
  return html`<details class="fold" onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>
      ${text("chat.files_read", { done: files.length, total })}
      <progress
        max=${total}
        value=${files.length}
        aria-label=${text("chat.files_read", { done: files.length, total })}
      ></progress>
    </summary>
    ${
      open &&
      html`<ul class="found">
        ${files.map(
          (file) =>
            html`<li key=${file.item_id}>
              <button type="button" class="found-item" onClick=${() => goToFile(file.item_id)}>
                <${Icon}
                  name=${ICONS[/** @type {keyof typeof ICONS} */ (file.status)] ?? "file"}
                  label=${text(`chat.file_status.${file.status}`)}
                /><span>${file.path}</span>
              </button>
            </li>`,
        )}
      </ul>`
    }
  </details>`;
}
