/** The tray: how far the uploads are, all and each. */

import { IconButton } from "../../shared/components/button.js";
import { VirtualList } from "../../shared/components/virtual_list.js";
import { html, useState } from "../../shared/preact.js";
import { size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { UploadRow } from "./upload_row.js";

/** @typedef {import("./queue.js").UploadQueue} UploadQueue */

const ROW = 52;
const MAX_ROWS = 4.5;
/** In a low window the files need the room. */
const LOW = 760;
const MAX_ROWS_IF_LOW = 2.5;

/** @param {{queue: UploadQueue}} properties */
export function UploadTray({ queue }) {
  const [isOpen, setOpen] = useState(true);
  const uploads = queue.list.value;
  const totals = queue.totals.value;
  const share = totals.size ? totals.sent / totals.size : totals.done / Math.max(1, totals.count);
  const words = summary(totals);
  return html`<section class="upload-tray" aria-label=${text("uploads.tray")}>
    <header>
      <div class="upload-summary">
        <strong>${words}</strong>
        ${
          totals.active > 0 &&
          html`<span class="quiet">${text("uploads.of", { sent: size(totals.sent), size: size(totals.size) })}</span>`
        }
      </div>
      <${ForAll} queue=${queue} />
      <${IconButton}
        icon="expand"
        class=${isOpen ? "" : "turned"}
        label=${text(isOpen ? "uploads.fold" : "uploads.unfold")}
        aria-expanded=${isOpen}
        onClick=${() => setOpen(!isOpen)}
      />
    </header>
    ${totals.active + totals.paused > 0 && html`<progress class="upload-all" aria-label=${words} value=${share} max="1"></progress>`}
    ${
      isOpen &&
      html`<div
        class="upload-list"
        style=${{ height: `${Math.min(uploads.length, innerHeight < LOW ? MAX_ROWS_IF_LOW : MAX_ROWS) * ROW}px` }}
      >
        <${VirtualList}
          rows=${{ role: "list", "aria-label": text("uploads.tray") }}
          count=${uploads.length}
          rowHeight=${ROW}
          draw=${(/** @type {number} */ index) =>
            html`<${UploadRow} key=${uploads[index].id} upload=${uploads[index]} queue=${queue} />`}
        />
      </div>`
    }
  </section>`;
}

/** What can be done with all of them. @param {{queue: UploadQueue}} properties */
function ForAll({ queue }) {
  const { active, paused, lost } = queue.totals.value;
  const button = (/** @type {string} */ icon, /** @type {string} */ key, /** @type {() => void} */ act) =>
    html`<${IconButton} icon=${icon} label=${text(key)} onClick=${act} />`;
  return html`
    ${active > 0 && button("pause", "uploads.pause_all", () => queue.all("pause"))}
    ${!active && paused > 0 && button("play", "uploads.resume_all", () => queue.all("resume"))}
    ${
      active + paused + lost > 0
        ? button("stop", "uploads.cancel_all", () => queue.all("cancel"))
        : button("close", "uploads.clear", () => queue.clear())
    }
  `;
}

/** @param {ReturnType<typeof import("./queue.js").totalsOf>} totals */
function summary({ count, done, failed, active, paused, lost }) {
  if (active) return text("uploads.active", { done, count });
  if (paused) return text("uploads.paused", { count: paused });
  if (lost) return text("uploads.lost", { count: lost });
  if (failed) return text("uploads.failed", { count: failed });
  return done ? text("uploads.done", { count: done }) : text("uploads.nothing");
}
