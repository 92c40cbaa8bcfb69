/** The person's assistants, and the model of new conversations. */

import { get, patch, post, put, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { showDialog } from "../../shared/components/dialogs.js";
import { html } from "../../shared/preact.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Entry, Section, askAndDo, attempt } from "../form/section.js";
import { Editor } from "./editor.js";

await loadTexts(import.meta.url);

/** @typedef {import("./editor.js").Assistant} Assistant */
/** @typedef {import("./editor.js").Model} Model */
/** @typedef {import("./editor.js").Server} Server */
/** @typedef {{assistants: Assistant[], models: Model[], servers: Server[]}} All */

/** The section. */
export function Assistants() {
  const all = useLoaded(load);
  const edit = async (/** @type {All} */ known, /** @type {Assistant | undefined} */ assistant) => {
    const chosen = assistant ? (await get(`/api/assistants/${assistant.id}/mcp-servers`)).server_ids : [];
    const drawn = (/** @type {(done?: boolean) => void} */ close) =>
      html`<${Editor} ...${known} assistant=${assistant} chosen=${chosen} save=${save} close=${close} />`;
    if (await showDialog(drawn)) await all.reload();
  };
  const makeDefault = async (/** @type {Assistant} */ assistant) => {
    const done = await attempt(
      () => patch(`/api/assistants/${assistant.id}`, { is_default: true }),
      text("assistants.is_default_now", { name: assistant.name }),
    );
    if (done) await all.reload();
  };
  const forget = async (/** @type {Assistant} */ assistant) => {
    const done = await askAndDo({
      title: text("assistants.delete_title", { name: assistant.name }),
      body: text("assistants.delete_hint"),
      action: text("assistants.delete"),
      act: () => remove(`/api/assistants/${assistant.id}`),
      done: text("assistants.deleted", { name: assistant.name }),
    });
    if (done) await all.reload();
  };
  return html`<${Section} title=${text("settings.section.assistants")} hint=${text("assistants.hint")}>
    <${Loaded} of=${all}>
      ${(/** @type {All} */ known) => html`
        <div class="row">
          <${Button} kind="main" icon="plus" onClick=${() => attempt(() => edit(known, undefined))}
            >${text("assistants.add")}<//
          >
        </div>
        <ul class="settings-list">
          ${known.assistants.map(
            (one) =>
              html`<${Row}
                key=${one.id}
                assistant=${one}
                onEdit=${() => attempt(() => edit(known, one))}
                onDefault=${() => makeDefault(one)}
                onDelete=${() => forget(one)}
              />`,
          )}
        </ul>
        <p class="settings-small">
          ${text("assistants.default_model", { model: known.models.find((one) => one.is_default)?.name ?? "" })}
        </p>
      `}
    <//>
  <//>`;
}

async function load() {
  const [assistants, models, servers] = await Promise.all([
    get("/api/assistants"),
    get("/api/models"),
    get("/api/mcp-servers"),
  ]);
  return { assistants: assistants.items, models: models.items, servers: servers.items };
}

/**
 * @param {Assistant | undefined} assistant
 * @param {Record<string, any>} change
 * @param {string[]} serverIds
 */
async function save(assistant, change, serverIds) {
  const fields = assistant?.is_built_in ? null : change;
  const path = assistant && `/api/assistants/${assistant.id}`;
  const saved = path ? (fields ? await patch(path, fields) : assistant) : await post("/api/assistants", fields);
  await put(`/api/assistants/${saved.id}/mcp-servers`, { server_ids: serverIds });
}

/** @param {{assistant: Assistant, onEdit: () => void, onDefault: () => void, onDelete: () => void}} properties */
function Row({ assistant, onEdit, onDefault, onDelete }) {
  const named = html`<span class="hidden"> ${assistant.name}</span>`;
  return html`<${Entry}
    title=${assistant.name}
    badge=${assistant.is_default ? text("assistants.default") : undefined}
    facts=${[
      assistant.is_built_in ? text("assistants.built_in") : assistant.description,
      assistant.model && text("assistants.has_model", { model: assistant.model }),
    ]}
    actions=${html`<${Button} onClick=${onEdit}>${text("assistants.edit")}${named}<//>
      ${!assistant.is_default && html`<${Button} onClick=${onDefault}>${text("assistants.make_default")}${named}<//>`}
      ${!assistant.is_built_in && html`<${Button} kind="danger" onClick=${onDelete}>${text("assistants.delete")}${named}<//>`}`}
  />`;
}
