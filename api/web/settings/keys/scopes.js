/** What a key may do. */

import { html } from "../../shared/preact.js";
import { hasScope } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { Tick } from "../form/form.js";

const SCOPES = ["read", "write", "share", "delete"];
/** Given by name only: nobody has it themselves, and whoever may delete may give it to a program. */
const PURGE = "purge";

/** @param {string} scope @param {readonly string[]} chosen */
const isOffered = (scope, chosen) => hasScope(scope) || chosen.includes(scope);

/** Boxes to tick. @param {{chosen: readonly string[]}} properties */
export function Scopes({ chosen }) {
  return html`<fieldset class="settings-group">
    <legend>${text("keys.scopes")}</legend>
    ${[...SCOPES, PURGE]
      .filter((scope) => isOffered(scope === PURGE ? "delete" : scope, chosen))
      .map(
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
