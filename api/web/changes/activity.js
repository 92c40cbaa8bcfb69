/** What was changed in the drive, newest first, with filters and ways back. */

import { get } from "../shared/api/request.js";
import { Button } from "../shared/components/button.js";
import { Empty, Failure, Loading } from "../shared/components/states.js";
import { onDriveChange } from "../shared/drive_events.js";
import { useTitle } from "../shared/location.js";
import { html, useEffect, useRef, useState } from "../shared/preact.js";
import { isAdministrator } from "../shared/session.js";
import { loadStyles } from "../shared/styles/load.js";
import { moment } from "../shared/texts/format.js";
import { loadTexts, text } from "../shared/texts/texts.js";
import { reverse, wordsOf } from "./reversal.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/changes.css")]);

/** @typedef {import("../shared/api/types.js").Schema<"ChangeResult">} Change */

const KINDS = ["create", "edit", "organise", "trash", "share", "undo"];
const PAGE = 50;

/** What stands in the place of the files. */
export function Activity() {
  const [filters, setFilters] = useState(/** @type {Record<string, string>} */ ({}));
  const { changes, cursor, error, load } = useChanges(filters);
  useTitle(text("changes.title"));
  const set = (/** @type {string} */ name, /** @type {string} */ value) => setFilters({ ...filters, [name]: value });
  const act = async (/** @type {"undo" | "redo"} */ direction, /** @type {Change} */ change) => {
    if (await reverse(direction, `/api/drive/changes/${change.id}`)) await load();
  };
  return html`<div class="activity">
    <h2>${text("changes.title")}</h2>
    <${Filters} filters=${filters} onSet=${set} />
    ${Boolean(error) && html`<${Failure} error=${error} onRetry=${() => load()} />`}
    ${!changes && !error && html`<${Loading} />`}
    ${changes?.length === 0 && html`<${Empty} icon="history" title=${text("changes.none")} hint=${text("changes.none_hint")} />`}
    <ol class="activity-list">
      ${changes?.map((change) => html`<${ActivityRow} key=${change.id} change=${change} onAct=${act} />`)}
    </ol>
    ${cursor && html`<${Button} onClick=${() => load(cursor)}>${text("changes.more")}<//>`}
  </div>`;
}

/** Load the changes page by page, anew when something changes. @param {Record<string, string>} filters */
function useChanges(filters) {
  const [state, setState] = useState(/** @type {{changes?: Change[], cursor?: string | null, error?: unknown}} */ ({}));
  const asked = useRef(0);
  const load = async (/** @type {string | null} */ from = null) => {
    const turn = ++asked.current;
    try {
      const page = await get("/api/drive/changes", { ...filters, limit: PAGE, cursor: from });
      if (turn !== asked.current) return;
      setState((old) => ({
        changes: from ? [...(old.changes ?? []), ...page.items] : page.items,
        cursor: page.cursor,
      }));
    } catch (error) {
      if (turn === asked.current) setState((old) => ({ ...old, error }));
    }
  };
  useEffect(() => {
    void load();
    return onDriveChange(() => void load());
  }, [JSON.stringify(filters)]);
  return { ...state, load };
}

/** @param {{filters: Record<string, string>, onSet: (name: string, value: string) => void}} properties */
function Filters({ filters, onSet }) {
  const choose = (/** @type {string} */ name) => (/** @type {Event} */ event) =>
    onSet(name, /** @type {HTMLInputElement} */ (event.currentTarget).value);
  return html`<div class="activity-filters">
    <label class="field"
      ><span>${text("changes.kind")}</span>
      <select value=${filters.kind ?? ""} onChange=${choose("kind")}>
        <option value="">${text("changes.kind.all")}</option>
        ${KINDS.map((kind) => html`<option value=${kind}>${text(`changes.kind.${kind}`)}</option>`)}
      </select>
    </label>
    <label class="field"
      ><span>${text("changes.since")}</span>
      <input type="date" value=${filters.since ?? ""} onChange=${choose("since")} />
    </label>
    <label class="field"
      ><span>${text("changes.until")}</span>
      <input type="date" value=${filters.until ?? ""} onChange=${choose("until")} />
    </label>
    ${
      isAdministrator.value &&
      html`<label class="field"
        ><span>${text("changes.whose")}</span>
        <select value=${filters.everybodys ?? ""} onChange=${choose("everybodys")}>
          <option value="">${text("changes.whose.mine")}</option>
          <option value="true">${text("changes.whose.everybodys")}</option>
        </select>
      </label>`
    }
  </div>`;
}

/** @param {{change: Change, onAct: (direction: "undo" | "redo", change: Change) => void}} properties */
function ActivityRow({ change, onAct }) {
  const words = wordsOf(change);
  const isUndone = change.undone_by !== null;
  const direction = isUndone ? "redo" : "undo";
  return html`<li>
    <span class="activity-words">
      <span class=${isUndone ? "undone" : ""}>${words}</span>
      <span class="quiet">
        ${[
          change.user,
          moment(change.at),
          change.run_id && text("changes.by_assistant"),
          isUndone && text("changes.is_undone"),
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
    </span>
    <${Button}
      icon=${direction}
      aria-label=${text(`changes.${direction}_one`, { change: words })}
      onClick=${() => onAct(direction, change)}
      >${text(`changes.${direction}`)}<//
    >
  </li>`;
}
