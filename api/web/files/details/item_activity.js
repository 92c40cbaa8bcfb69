/** What was done with an item, newest first, each with a way back. */

import { get } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { announce, notifyProblem } from "../../shared/components/notices.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { moment } from "../../shared/texts/format.js";
import { language } from "../../shared/texts/language.js";
import { text } from "../../shared/texts/texts.js";
import { change } from "../actions/own_changes.js";

/** @typedef {import("../../shared/api/types.js").Schema<"ChangeResult">} Change */

const PAGE = 20;

/** @param {{itemId: string}} properties */
export function ItemActivity({ itemId }) {
  const [changes, setChanges] = useState(/** @type {Change[]} */ ([]));
  const [cursor, setCursor] = useState(/** @type {string | null} */ (null));
  const [refusal, setRefusal] = useState(/** @type {{id: number, reason: string} | null} */ (null));
  const load = async (/** @type {Change[]} */ before, /** @type {string | null} */ from) => {
    const page = await get("/api/drive/changes", { item_id: itemId, limit: PAGE, cursor: from });
    setChanges([...before, ...page.items]);
    setCursor(page.cursor);
  };
  useEffect(() => void load([], null).catch(notifyProblem), [itemId]);
  const undo = async (/** @type {Change} */ one) => {
    try {
      const { result } = await change("POST", `/api/drive/changes/${one.id}/undo`);
      const [left] = result.skipped;
      setRefusal(left ? { id: one.id, reason: String(left.text ?? left.reason ?? "") } : null);
      if (!left) announce(text("facts.undone"));
      await load([], null);
    } catch (problem) {
      notifyProblem(problem);
    }
  };
  return html`<section>
    <h3>${text("facts.activity")}</h3>
    <ol class="item-activity">
      ${changes.map(
        (one) =>
          html`<${Row}
            key=${one.id}
            change=${one}
            onUndo=${undo}
            reason=${refusal?.id === one.id ? refusal.reason : ""}
          />`,
      )}
    </ol>
    ${!changes.length && html`<p class="quiet">${text("facts.no_activity")}</p>`}
    ${cursor && html`<${Button} onClick=${() => load(changes, cursor).catch(notifyProblem)}>${text("facts.more")}<//>`}
  </section>`;
}

/** @param {{change: Change, onUndo: (change: Change) => void, reason: string}} properties */
function Row({ change: one, onUndo, reason }) {
  const words = (language.value === "zh" && one.messages.summary?.zh) || one.summary;
  const mayUndo = !one.undone_by;
  return html`<li>
    <span class="activity-words">
      <span>${words}</span>
      <span class="quiet">${one.user} · ${moment(one.at)}${one.undone_by ? ` · ${text("facts.is_undone")}` : ""}</span>
      ${reason && html`<span role="alert">${text("facts.not_undone", { reason })}</span>`}
    </span>
    ${mayUndo && html`<${Button} icon="undo" aria-label=${text("facts.undo_of", { change: words })} onClick=${() => onUndo(one)}>${text("facts.undo")}<//>`}
  </li>`;
}
