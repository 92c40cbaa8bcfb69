/** Approve a call, and allow calls of its kind in a folder for a while. */

import { Button } from "../../../shared/components/button.js";
import { html, useLayoutEffect, useRef } from "../../../shared/preact.js";
import { duration } from "../../../shared/texts/format.js";
import { text } from "../../../shared/texts/texts.js";
import { closeOnEscape } from "./form_keys.js";

const MINUTES = [15, 60, 8 * 60, 24 * 60];
const USUAL_MINUTES = 60;
const USUAL_ITEMS = 50;
const MAX_ITEMS = 10_000;
const MINUTE_MS = 60_000;

/** The folders that an item lies in, the nearest first; all of the drive is no bound. @param {string} path @param {boolean} isFolder */
export function foldersAbove(path, isFolder) {
  const names = path.split("/").filter(Boolean);
  const last = isFolder ? names.length : names.length - 1;
  return names.slice(0, last).map((_, at) => `/${names.slice(0, last - at).join("/")}`);
}

/** @param {{action: import("../card.js").Action, onDecide: (decision: import("../deciding.js").Decision) => void, onClose: () => void}} properties */
export function GrantForm({ action, onDecide, onClose }) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useLayoutEffect(
    () => /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector("select"))?.focus(),
    [],
  );
  const [first] = action.effect?.items ?? [];
  const folders = [...foldersAbove(String(first?.path ?? ""), first?.kind === "folder"), "/"];
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const fields = new FormData(/** @type {HTMLFormElement} */ (form.current));
    const [minutes, items] = [Number(fields.get("minutes")), Number(fields.get("items"))];
    const grant = {
      folder_id: String(fields.get("folder")),
      minutes,
      max_items: Math.min(MAX_ITEMS, Math.max(1, items)),
    };
    onDecide({ type: "approve", grant });
  };
  return html`<form ref=${form} class="approval-form" onSubmit=${submit} onKeyDown=${closeOnEscape(onClose)}>
    <p>${text(`approval.grant_kind.${action.grant_kind}`)}</p>
    <label class="field"
      ><span>${text("approval.grant_folder")}</span>
      <select name="folder">
        ${folders.map((folder) => html`<option key=${folder} value=${folder}>${folder === "/" ? text("approval.grant_root") : folder}</option>`)}
      </select>
    </label>
    <label class="field"
      ><span>${text("approval.grant_for")}</span>
      <select name="minutes">
        ${MINUTES.map((minutes) => html`<option key=${minutes} value=${minutes} selected=${minutes === USUAL_MINUTES}>${duration(minutes * MINUTE_MS)}</option>`)}
      </select>
    </label>
    <label class="field"
      ><span>${text("approval.grant_items")}</span>
      <input name="items" type="number" min="1" max=${MAX_ITEMS} required defaultValue=${USUAL_ITEMS} />
    </label>
    <div class="row">
      <${Button} kind="main" type="submit">${text("approval.grant_send")}<//>
      <${Button} onClick=${onClose}>${text("shared.cancel")}<//>
    </div>
  </form>`;
}
