/** Bringing files into a folder by a link that allows it. */

import { upload } from "../../shared/api/upload.js";
import { chooseOfDevice } from "../../shared/choose.js";
import { Button } from "../../shared/components/button.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { html, useEffect, useRef, useState } from "../../shared/preact.js";
import { size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("./guest.js").Item} Item */
/** @typedef {{file: File, at: number, count: number}} Sending the file of `count` files that is being sent */

/** @param {{base: string, folder: Item, onChange: () => void}} properties */
export function GuestUpload({ base, folder, onChange }) {
  const { sending, sent, send, stop } = useUploads(`${base}/files`, folder.id, onChange);
  if (folder.role !== "editor") return null;
  const choose = () => chooseOfDevice({ multiple: true }, (files) => void send(files));
  // One button, so that it keeps the focus.
  return html`<div class="row">
    <${Button} icon=${sending ? "stop" : "upload"} onClick=${sending ? stop : choose}
      >${text(sending ? "guest.stop" : "guest.upload")}<//
    >
    <span class="quiet" role="status"
      >${sending && text("guest.uploading", { name: sending.file.name, at: sending.at, count: sending.count })}</span
    >
    ${sending && html`<${Progress} file=${sending.file} sent=${sent} />`}
  </div>`;
}

/** @param {{file: File, sent: number}} properties */
function Progress({ file, sent }) {
  return html`<progress aria-label=${file.name} value=${sent} max=${Math.max(1, file.size)}></progress>
    <span class="quiet">${text("guest.sent", { sent: size(sent), size: size(file.size) })}</span>`;
}

/** @param {string} path @param {string} folderId @param {() => void} onChange */
function useUploads(path, folderId, onChange) {
  const [sending, setSending] = useState(/** @type {Sending | null} */ (null));
  const [sent, setSent] = useState(0);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const send = async (/** @type {File[]} */ files) => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    let count = 0;
    for (const [at, file] of files.entries()) {
      if (signal.aborted) break;
      setSending({ file, at: at + 1, count: files.length });
      setSent(0);
      // A name that is taken gets a number: a guest puts nothing in place of what is there.
      const query = { name: file.name, parent_id: folderId, on_conflict: "rename" };
      try {
        await upload(path, query, file, { signal, onSent: setSent });
        count += 1;
      } catch (problem) {
        if (!signal.aborted) notifyProblem(problem);
      }
    }
    setSending(null);
    if (count) notify(text("guest.uploaded", { count }));
    onChange();
  };
  return { sending, sent, send, stop: () => abort.current.abort() };
}
