/** What an assistant is and may use. */

import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Field, Tick, valueOf } from "../form/form.js";
import { FormDialog } from "../form/form_dialog.js";

/** @typedef {import("../../shared/api/types.js").Schema<"AssistantView">} Assistant */
/** @typedef {import("../../shared/api/types.js").Schema<"ModelView">} Model */
/** @typedef {import("../../shared/api/types.js").Schema<"ServerView">} Server */

/**
 * @param {{assistant?: Assistant, models: Model[], servers: Server[], chosen: string[],
 *   save: (assistant: Assistant | undefined, change: Record<string, any>, serverIds: string[]) => Promise<void>,
 *   close: (done?: boolean) => void}} properties
 */
export function Editor({ assistant, models, servers, chosen, save, close }) {
  const keep = async (/** @type {FormData} */ fields) => {
    await save(assistant, changeOf(fields), fields.getAll("servers").map(String));
    close(true);
  };
  return html`<${FormDialog}
    title=${assistant ? text("assistants.edit_title", { name: assistant.name }) : text("assistants.add")}
    action=${text("settings.save")}
    onSave=${keep}
    onClose=${close}
  >
    ${
      assistant?.is_built_in
        ? html`<p>${text("assistants.built_in_hint")}</p>`
        : html`<${Character} assistant=${assistant} models=${models} />`
    }
    <fieldset class="settings-group">
      <legend>${text("assistants.servers")}</legend>
      ${!servers.length && html`<p class="settings-small">${text("assistants.no_servers")}</p>`}
      ${servers.map(
        (one) => html`<${Tick} name="servers" value=${one.id} label=${one.name} checked=${chosen.includes(one.id)} />`,
      )}
    </fieldset>
  <//>`;
}

/** @param {{assistant?: Assistant, models: Model[]}} properties */
function Character({ assistant, models }) {
  const [limited, setLimited] = useState(Boolean(assistant?.drive_tools));
  const { name, description, model = "", instructions, drive_tools: tools } = assistant ?? {};
  return html`<${Field} name="name" label=${text("assistants.name")} value=${name} required autofocus />
    <${Field} name="description" label=${text("assistants.description")} value=${description} />
    <${Field} name="model" label=${text("assistants.model")}>
      <option value="" selected=${!model}>${text("assistants.model_default")}</option>
      ${models.map((one) => html`<option value=${one.name} selected=${one.name === model}>${one.name}</option>`)}
    <//>
    <${Field}
      name="instructions"
      lines="6"
      label=${text("assistants.instructions")}
      hint=${text("assistants.instructions_hint")}
      value=${instructions}
      maxlength="8000"
    />
    <${Tick}
      name="limited"
      label=${text("assistants.limited")}
      hint=${text("assistants.limited_hint")}
      checked=${limited}
      onChange=${(/** @type {Event} */ event) => setLimited(/** @type {HTMLInputElement} */ (event.currentTarget).checked)}
    />
    ${
      limited &&
      html`<${Field}
        name="drive_tools"
        lines="4"
        label=${text("assistants.tools")}
        hint=${text("assistants.tools_hint")}
        value=${(tools ?? []).join(" ")}
        spellcheck=${false}
      />`
    }`;
}

/** @param {FormData} fields */
const changeOf = (fields) => ({
  name: valueOf(fields, "name").trim(),
  description: valueOf(fields, "description"),
  model: valueOf(fields, "model"),
  instructions: valueOf(fields, "instructions"),
  drive_tools: fields.has("limited")
    ? valueOf(fields, "drive_tools")
        .split(/[\s,，、]+/)
        .filter(Boolean)
    : null,
});
