/** What can be said of a file that can't be shown; and why what is in it can't be found. */

import { get } from "../../shared/api/request.js";
import { Icon } from "../../shared/components/icon.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { moment, size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { contentAddress } from "./content.js";
import { kindOf } from "./kinds.js";

/** @typedef {import("./kinds.js").Item} Item */

/** @param {{item: Item, version: number, reason?: string}} properties */
export function Facts({ item, version, reason }) {
  const rows = [
    [text("preview.facts.type"), item.media_type],
    [text("preview.facts.size"), size(item.size)],
    [text("preview.facts.changed"), moment(item.modified_at)],
    // Guests don't learn whose it is.
    ...(item.owner ? [[text("preview.facts.owner"), item.owner]] : []),
  ];
  return html`<div class="facts">
    <${Icon} name="file" />
    <p class="state-title">${reason ?? text("preview.not_shown")}</p>
    <dl>
      ${rows.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <a class="button main" href=${contentAddress(item, version)} download=${item.name}>
      <${Icon} name="download" /><span>${text("preview.download")}</span>
    </a>
  </div>`;
}

/** What most people need to know of the index: that it does not find what is in this file, and why. @param {{item: Item}} properties */
export function IndexState({ item }) {
  // That a picture has no words surprises nobody.
  const state = kindOf(item) === "image" ? "ready" : (item.index_state ?? "ready");
  const [reason, setReason] = useState("");
  useEffect(() => {
    setReason("");
    if (state === "failed") reasonOf(item.id).then(setReason, () => setReason(""));
  }, [item.id, item.version, state]);
  const words = {
    pending: "preview.index.pending",
    indexing: "preview.index.pending",
    needs_password: "preview.index.needs_password",
  };
  const others = { needs_ocr: "preview.index.needs_ocr", failed: "preview.index.failed" };
  const key = /** @type {Record<string, string>} */ ({ ...words, ...others })[state];
  if (!key) return null;
  const isQuiet = state === "pending" || state === "indexing";
  return html`<p class=${`index-state ${isQuiet ? "quiet" : "warning"}`} role="note">
    <${Icon} name=${isQuiet ? "clock" : "warning"} /><span>${text(key)} ${reason}</span>
  </p>`;
}

/** @param {string} id @returns {Promise<string>} */
async function reasonOf(id) {
  const { problems } = await get("/api/drive/index");
  return problems.find((/** @type {any} */ problem) => problem.file_id === id)?.reason ?? "";
}
