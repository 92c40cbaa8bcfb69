/** One upload in the tray. */

import { IconButton } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { describe } from "../../shared/components/problems.js";
import { goToFile } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("./upload.js").Upload} Upload */
/** @typedef {import("./queue.js").UploadQueue} UploadQueue */

/** @type {Record<string, string>} */
const ICONS = {
  done: "check",
  failed: "warning",
  lost: "warning",
  paused: "pause",
  skipped: "close",
  cancelled: "close",
};

/** @param {{upload: Upload, queue: UploadQueue}} properties */
export function UploadRow({ upload, queue }) {
  const state = upload.state.value;
  const isRunning = state === "sending" || state === "paused";
  return html`<div class=${`upload-row ${state}`} role="listitem">
    <${Icon} name=${ICONS[state] ?? "upload"} />
    <div class="upload-words">
      <span class="upload-name" title=${upload.name}><bdi>${[...upload.path, upload.name].join(" / ")}</bdi></span>
      <span class="upload-state quiet" title=${state === "failed" ? stateWords(upload) : undefined}
        >${stateWords(upload)}</span
      >
      ${
        isRunning &&
        html`<progress aria-label=${upload.name} value=${upload.sent.value} max=${Math.max(1, upload.size)}></progress>`
      }
    </div>
    <${Actions} upload=${upload} queue=${queue} />
  </div>`;
}

/** @param {Upload} upload */
function stateWords(upload) {
  const state = upload.state.value;
  if (state === "failed") return reason(upload.problem.value);
  if (state === "offline" && upload.problem.value?.status === 429) return reason(upload.problem.value);
  if (state === "sending") return text("uploads.of", { sent: size(upload.sent.value), size: size(upload.size) });
  if (state === "done") return size(upload.size);
  return text(STATES[state]);
}

/** @type {Record<string, string>} */
const STATES = {
  waiting: "uploads.state.waiting",
  paused: "uploads.state.paused",
  offline: "uploads.state.offline",
  asking: "uploads.state.asking",
  skipped: "uploads.state.skipped",
  cancelled: "uploads.state.cancelled",
  lost: "uploads.state.lost",
};

/** @param {any} problem */
function reason(problem) {
  if (problem?.code === "unreadable_file") return text("uploads.unreadable");
  const { title, hint } = describe(problem);
  return [title, hint].filter(Boolean).join(" ");
}

/** @param {{upload: Upload, queue: UploadQueue}} properties */
function Actions({ upload, queue }) {
  const state = upload.state.value;
  const button = (/** @type {string} */ icon, /** @type {string} */ key, /** @type {() => void} */ act) =>
    html`<${IconButton} icon=${icon} label=${text(key, { name: upload.name })} onClick=${act} />`;
  return html`
    ${(state === "sending" || state === "waiting") && button("pause", "uploads.pause", () => queue.pause(upload))}
    ${state === "paused" && button("play", "uploads.resume", () => queue.resume(upload))}
    ${(state === "failed" || state === "offline") && button("restore", "uploads.retry", () => queue.resume(upload))}
    ${state === "lost" && button("file", "uploads.choose_again", () => chooseAgain(upload, queue))}
    ${state === "done" && button("right", "uploads.open", () => goToFile(upload.itemId))}
    ${!upload.isOver && button("close", "uploads.cancel", () => queue.cancel(upload))}
  `;
}

/**
 * Let the person choose the file that the browser forgot; another one is no help.
 * @param {Upload} upload
 * @param {UploadQueue} queue
 */
function chooseAgain(upload, queue) {
  const input = Object.assign(document.createElement("input"), { type: "file", hidden: true });
  input.addEventListener("change", () => {
    const file = [...(input.files ?? [])].find((one) => one.name === upload.name && one.size === upload.size);
    if (file) queue.found(upload, file);
    input.remove();
  });
  document.body.append(input);
  input.click();
}
