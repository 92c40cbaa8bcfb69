/** Headers or variables: each value is written and never read. */

import { Button, IconButton } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { emptySecret } from "./change.js";

/** @typedef {import("./change.js").Secret} Secret */

/** @param {{title: string, rows: Secret[], onChange: (rows: Secret[]) => void}} properties */
export function Secrets({ title, rows, onChange }) {
  /** @param {Secret} row @param {Partial<Secret>} change */
  const put = (row, change) => onChange(rows.map((one) => (one === row ? { ...one, ...change } : one)));
  const typed = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.currentTarget).value;
  return html`<fieldset class="settings-group">
    <legend>${title}</legend>
    <p class="settings-small">${text("servers.secrets_hint")}</p>
    ${rows.map(
      (row, index) =>
        html`<div class="settings-secret-row" key=${row.key}>
          <input
            value=${row.name}
            placeholder=${text("servers.secret_name")}
            aria-label=${text("servers.secret_name_of", { title, count: index + 1 })}
            autocomplete="off"
            onInput=${(/** @type {Event} */ event) => put(row, { name: typed(event), isSet: false })}
          />
          <input
            type="password"
            value=${row.value}
            placeholder=${text(row.isSet ? "servers.secret_set" : "servers.secret_value")}
            aria-label=${text("servers.secret_value_of", { name: row.name || String(index + 1) })}
            autocomplete="new-password"
            onInput=${(/** @type {Event} */ event) => put(row, { value: typed(event) })}
          />
          <${IconButton}
            icon="close"
            label=${text("servers.secret_remove", { name: row.name || String(index + 1) })}
            onClick=${() => onChange(rows.filter((one) => one !== row))}
          />
        </div>`,
    )}
    <div class="row">
      <${Button} icon="plus" onClick=${() => onChange([...rows, emptySecret()])}>${text("servers.secret_add")}<//>
    </div>
  </fieldset>`;
}
