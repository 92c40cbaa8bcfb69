/** A person or a group with access. */

import { IconButton } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { RoleChoice } from "./role_choice.js";

/** @typedef {import("./share.js").Share} Share */

/** @param {{share: Share, alter: (method: "PATCH" | "DELETE", share: Share, json?: object) => void}} properties */
export function PersonRow({ share, alter }) {
  const who = (share.email ?? "").replace(/^group:/, "");
  const inherited = share.inherited_from;
  return html`<li class="share">
    <${Icon} name=${share.kind === "group" ? "people" : "person"} />
    <span class="share-who">
      <bdi>${who}</bdi>
      ${inherited && html`<span class="quiet">${text("sharing.inherited", { path: inherited })}</span>`}
    </span>
    ${
      inherited
        ? html`<span class="quiet">${text(`sharing.${share.role}`)}</span>`
        : html`<${RoleChoice}
              label=${text("sharing.role_of", { who })}
              value=${share.role}
              onChange=${(/** @type {string} */ role) => alter("PATCH", share, { role })}
            />
            <${IconButton}
              icon="close"
              label=${text("sharing.remove", { who })}
              onClick=${() => alter("DELETE", share)}
            />`
    }
  </li>`;
}
