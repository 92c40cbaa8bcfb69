/** What somebody may do. */

import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @param {{label: string, value: string, onChange: (role: string) => void}} properties */
export function RoleChoice({ label, value, onChange }) {
  return html`<select
    class="role"
    aria-label=${label}
    value=${value}
    onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.value)}
  >
    <option value="viewer">${text("sharing.viewer")}</option>
    <option value="editor">${text("sharing.editor")}</option>
  </select>`;
}
