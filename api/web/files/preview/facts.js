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
  const { reason, omissions } = useReading(item, state);
  const words = {
    pending: "preview.index.pending",
    indexing: "preview.index.pending",
    needs_password: "preview.index.needs_password",
  };
  const others = { needs_ocr: "preview.index.needs_ocr", failed: "preview.index.failed" };
  const key = /** @type {Record<string, string>} */ ({ ...words, ...others })[state];
  if (!key && omissions.length) return html`<${Incomplete} omissions=${omissions} />`;
  if (!key) return null;
  const isQuiet = state === "pending" || state === "indexing" || state === "needs_ocr";
  return html`<p class=${`index-state ${isQuiet ? "quiet" : "warning"}`} role="note">
    <${Icon} name=${isQuiet ? "clock" : "warning"} /><span>${text(key)} ${reason}</span>
  </p>`;
}

/** @param {{omissions: {kind: string, text: string}[]}} properties */
function Incomplete({ omissions }) {
  const things = omissions.map((one) => one.text).join(text("preview.index.separator"));
  return html`<p class="index-state quiet" role="note">
    <${Icon} name="info" /><span>${text("preview.index.partly", { things })}</span>
  </p>`;
}

/** Ask why a file could not be read, or what of it. Guests may not. @param {Item} item @param {string} state */
function useReading(item, state) {
  const none = { reason: "", omissions: [] };
  const [reading, setReading] = useState(none);
  const isAsked = (state === "failed" || state === "ready") && kindOf(item) !== "image" && Boolean(item.owner);
  useEffect(() => {
    setReading(none);
    if (!isAsked) return;
    get(`/api/drive/items/${encodeURIComponent(item.id)}/index`).then(
      (found) => setReading({ reason: state === "failed" ? found.reason : "", omissions: found.omissions }),
      () => setReading(none),
    );
  }, [item.id, item.version, state, isAsked]);
  return reading;
}
