/** What a run changed, in one list below its answer: with undo, redo, and the record of each call. */

import { get } from "../shared/api/request.js";
import { Button } from "../shared/components/button.js";
import { showDialog } from "../shared/components/dialogs.js";
import { Icon } from "../shared/components/icon.js";
import { notifyProblem } from "../shared/components/notices.js";
import { goToFile } from "../shared/location.js";
import { html, useEffect, useState } from "../shared/preact.js";
import { loadStyles } from "../shared/styles/load.js";
import { loadTexts, text } from "../shared/texts/texts.js";
import { reverse } from "./reversal.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/changes.css")]);

/** @typedef {import("../shared/api/types.js").Schema<"ChangeView">} Change */
/** @typedef {import("../shared/api/types.js").Schema<"ChangeGroup">} Group */
/** @typedef {{items: Change[], groups: Group[], outside: Array<{text: string}>}} Changes */

/** @param {{runId: string, changes: Change[], groups: Group[]}} properties as the end of the run told them */
export function RunChanges({ runId, changes, groups }) {
  const [now, setNow] = useState(/** @type {Changes} */ ({ items: changes, groups, outside: [] }));
  const path = `/api/runs/${encodeURIComponent(runId)}`;
  const load = async () => setNow(await get(`${path}/changes`));
  // A turn that is shown later may have been undone elsewhere.
  useEffect(() => void load().catch(notifyProblem), [runId]);
  const act = async (/** @type {"undo" | "redo"} */ direction, /** @type {any} */ body = {}) => {
    if (await reverse(direction, path, body)) await load().catch(notifyProblem);
  };
  const undone = now.items.filter((one) => one.undone_by !== null).length;
  if (!now.items.length && !now.outside.length) return null;
  return html`<section class="run-changes" aria-label=${text("changes.of_run")}>
    <h3><${Icon} name="history" />${text("changes.of_run")}</h3>
    ${now.groups.map(
      (group) =>
        html`<${GroupOfChanges}
          key=${group.change_ids[0]}
          group=${group}
          items=${now.items}
          onUndo=${(/** @type {number} */ id) => act("undo", { change_id: id })}
        />`,
    )}
    ${now.outside.map((call) => html`<p class="quiet">${call.text}</p>`)}
    <div class="row">
      ${undone < now.items.length && html`<${Button} icon="undo" onClick=${() => act("undo")}>${text("changes.undo_all")}<//>`}
      ${undone > 0 && html`<${Button} icon="redo" onClick=${() => act("redo")}>${text("changes.redo_all")}<//>`}
      <${Button} icon="list" onClick=${() => showAudit(runId)}>${text("changes.audit")}<//>
    </div>
  </section>`;
}

/** @param {string} runId */
async function showAudit(runId) {
  const { Audit } = await import("./audit.js");
  await showDialog((close) => html`<${Audit} runId=${runId} onClose=${close} />`);
}

/** @param {{group: Group, items: Change[], onUndo: (id: number) => void}} properties */
function GroupOfChanges({ group, items, onUndo }) {
  const own = items.filter((item) => group.change_ids.includes(item.id));
  if (own.length < 2) return own.map((item) => html`<${Row} key=${item.id} change=${item} onUndo=${onUndo} />`);
  return html`<details>
    <summary>
      ${group.text}${group.undone > 0 && html` <span class="quiet">${text("changes.undone_of", { count: group.undone })}</span>`}
    </summary>
    ${own.map((item) => html`<${Row} key=${item.id} change=${item} onUndo=${onUndo} />`)}
  </details>`;
}

/** @param {{change: Change, onUndo: (id: number) => void}} properties */
function Row({ change, onUndo }) {
  const isUndone = change.undone_by !== null;
  const { item_id: item } = change;
  return html`<div class=${isUndone ? "change undone" : "change"}>
    ${item && !isUndone ? html`<button type="button" class="as-link" onClick=${() => goToFile(item)}>${change.text}</button>` : html`<span>${change.text}</span>`}
    ${isUndone ? html`<span class="quiet">${text("changes.is_undone")}</span>` : html`<${Button} aria-label=${text("changes.undo_one", { change: change.text })} onClick=${() => onUndo(change.id)}>${text("changes.undo")}<//>`}
  </div>`;
}
