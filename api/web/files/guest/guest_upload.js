/** Bringing files into a folder by a link that allows it. */

import { upload } from "../../shared/api/upload.js";
import { chooseOfDevice } from "../../shared/choose.js";
import { Button } from "../../shared/components/button.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { html, signal, useEffect, useRef } from "../../shared/preact.js";
import { size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("./guest.js").Item} Item */
/** @typedef {{file: File, at: number, count: number, abort: AbortController}} Sending the file of `count` files that is being sent */

// Of the page, not of a folder: who opens another folder meanwhile loses nothing.
const sending = signal(/** @type {Sending | null} */ (null));
const sent = signal(0);

/** @param {{base: string, folder: Item, onChange: () => void}} properties */
export function GuestUpload({ base, folder, onChange }) {
  const now = sending.value;
  const isIdle = now === null;
  const wasIdle = useRef(isIdle);
  useEffect(() => {
    if (isIdle && !wasIdle.current) onChange();
    wasIdle.current = isIdle;
  }, [isIdle]);
  if (folder.role !== "editor") return null;
  const choose = () => chooseOfDevice({ multiple: true }, (files) => void send(files, `${base}/files`, folder.id));
  // One button, so that it keeps the focus.
  return html`<div class="row">
    <${Button} icon=${now ? "stop" : "upload"} onClick=${now ? () => now.abort.abort() : choose}
      >${text(now ? "guest.stop" : "guest.upload")}<//
    >
    <span class="quiet" role="status"
      >${now && text("guest.uploading", { name: now.file.name, at: now.at, count: now.count })}</span
    >
    ${now && html`<${Progress} file=${now.file} />`}
  </div>`;
}

/** @param {{file: File}} properties */
function Progress({ file }) {
  return html`<progress aria-label=${file.name} value=${sent.value} max=${Math.max(1, file.size)}></progress>
    <span class="quiet">${text("guest.sent", { sent: size(sent.value), size: size(file.size) })}</span>`;
}

/** Send the files one after another, until they are all there or it is stopped. @param {File[]} files @param {string} path @param {string} folderId */
async function send(files, path, folderId) {
  const abort = new AbortController();
  let count = 0;
  for (const [at, file] of files.entries()) {
    if (abort.signal.aborted) break;
    sending.value = { file, at: at + 1, count: files.length, abort };
    sent.value = 0;
    // A name that is taken gets a number: a guest puts nothing in place of what is there.
    const query = { name: file.name, parent_id: folderId, on_conflict: "rename" };
    try {
      await upload(path, query, file, { signal: abort.signal, onSent: (bytes) => (sent.value = bytes) });
      count += 1;
    } catch (problem) {
      if (!abort.signal.aborted) notifyProblem(problem);
    }
  }
  sending.value = null;
  if (count) notify(text("guest.uploaded", { count }));
}
