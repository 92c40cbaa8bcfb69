/** Servers of another program, from the JSON that lists them there. */

import { Problem } from "../../shared/api/problem.js";
import { post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Dialog } from "../../shared/components/dialogs.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Field, valueOf } from "../form/form.js";
import { FormDialog } from "../form/form_dialog.js";
import { Entry, Nothing } from "../form/section.js";

/** @typedef {import("../../shared/api/types.js").Schema<"ImportView">} Imported */

/** @param {{close: () => void}} properties */
export function Import({ close }) {
  const [imported, setImported] = useState(/** @type {Imported["items"] | null} */ (null));
  const save = async (/** @type {FormData} */ fields) => {
    setImported((await post("/api/mcp-servers/import", documentOf(valueOf(fields, "document")))).items);
  };
  if (imported) return html`<${Outcome} items=${imported} close=${close} />`;
  return html`<${FormDialog}
    title=${text("servers.import")}
    action=${text("servers.import_action")}
    onSave=${save}
    onClose=${close}
  >
    <p>${text("servers.import_hint")}</p>
    <${Field} name="document" lines="12" label="JSON" class="settings-code" spellcheck=${false} required autofocus />
  <//>`;
}

/** @param {string} words */
function documentOf(words) {
  try {
    return JSON.parse(words);
  } catch {
    throw new Problem(422, { detail: text("servers.no_json"), code: "no_json" });
  }
}

/** @param {{items: Imported["items"], close: () => void}} properties */
function Outcome({ items, close }) {
  const done = html`<${Button} kind="main" autofocus onClick=${() => close()}>${text("shared.close")}<//>`;
  return html`<${Dialog} title=${text("servers.imported")} onClose=${() => close()} footer=${done}>
    ${!items.length && html`<${Nothing}>${text("servers.imported_none")}<//>`}
    <ul class="settings-list">
      ${items.map(
        (one) =>
          html`<${Entry}
            key=${one.name}
            title=${one.name}
            badge=${one.problem ? undefined : text("servers.imported_one")}
            facts=${[one.problem, one.missing.length > 0 && text("servers.missing", { names: one.missing.join(", ") })]}
          />`,
      )}
    </ul>
  <//>`;
}
