/** What a key may do. */

import { html } from "../../shared/preact.js";
import { hasScope } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { Tick } from "../form/form.js";

const SCOPES = ["read", "write", "share", "delete"];

/** Boxes to tick. @param {{chosen: readonly string[]}} properties */
export function Scopes({ chosen }) {
  return html`<fieldset class="settings-group">
    <legend>${text("keys.scopes")}</legend>
    ${SCOPES.filter((scope) => hasScope(scope) || chosen.includes(scope)).map(
      (scope) =>
        html`<${Tick}
          name="scopes"
          value=${scope}
          label=${text(`keys.scope.${scope}`)}
          hint=${text(`keys.scope_hint.${scope}`)}
          checked=${chosen.includes(scope)}
        />`,
    )}
  </fieldset>`;
}

/** @param {FormData} fields */
export const chosenScopes = (fields) => fields.getAll("scopes").map(String);
