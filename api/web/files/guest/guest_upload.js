/** Bringing files into a folder by a link that allows it. */

import { call } from "../../shared/api/request.js";
import { chooseOfDevice } from "../../shared/choose.js";
import { Button } from "../../shared/components/button.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("./guest.js").Item} Item */

/** @param {{base: string, folder: Item, onChange: () => void}} properties */
export function GuestUpload({ base, folder, onChange }) {
  const [under, setUnder] = useState("");
  if (folder.role !== "editor") return null;
  const bring = async (/** @type {File[]} */ files) => {
    let count = 0;
    for (const file of files) {
      setUnder(text("guest.uploading", { name: file.name }));
      // A name that is taken gets a number: a guest puts nothing in place of what is there.
      const query = { name: file.name, parent_id: folder.id, on_conflict: "rename" };
      const headers = { "content-type": file.type || "application/octet-stream" };
      try {
        await call("POST", `${base}/files`, { query, headers, body: file, anonymous: true });
        count += 1;
      } catch (problem) {
        notifyProblem(problem);
      }
    }
    setUnder("");
    if (count) notify(text("guest.uploaded", { count }));
    onChange();
  };
  const choose = () => chooseOfDevice({ multiple: true }, (files) => void bring(files));
  return html`<div class="row">
    <${Button} icon="upload" onClick=${choose}>${text("guest.upload")}<//>
    <span class="quiet" role="status">${under}</span>
  </div>`;
}
