/** A link with its terms. */

import { Button, IconButton } from "../../shared/components/button.js";
import { useCopy } from "../../shared/components/copy_button.js";
import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { moment } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { RoleChoice } from "./role_choice.js";

/** @typedef {import("./share.js").Share} Share */

/** @param {{share: Share, isNew: boolean, alter: (method: "PATCH" | "DELETE", share: Share, json?: object) => void}} properties */
export function LinkRow({ share, isNew, alter }) {
  const inherited = share.inherited_from;
  return html`<li class=${`share link ${isNew ? "new" : ""}`}>
    <${Icon} name=${share.has_password ? "lock" : "link"} />
    <span class="share-who">
      <${Address} url=${share.url ?? ""} />
      <span class="quiet">${factsOf(share).join(" · ")}</span>
      ${inherited && html`<span class="quiet">${text("sharing.inherited", { path: inherited })}</span>`}
    </span>
    ${
      !inherited &&
      html`<${RoleChoice}
          label=${text("sharing.role_of", { who: text("sharing.link") })}
          value=${share.role}
          onChange=${(/** @type {string} */ role) => alter("PATCH", share, { role })}
        />
        <${IconButton} icon="close" label=${text("sharing.revoke")} onClick=${() => alter("DELETE", share)} />`
    }
  </li>`;
}

/** @param {{url: string}} properties */
function Address({ url }) {
  const [isCopied, copy] = useCopy(url);
  if (!url) return html`<span>${text("sharing.link")}</span>`;
  return html`<span class="share-address-row">
    <input
      readonly
      value=${url}
      aria-label=${text("sharing.address")}
      onFocus=${(/** @type {any} */ event) => event.currentTarget.select()}
    />
    <${Button} icon=${isCopied ? "check" : "copy"} onClick=${copy}
      >${text(isCopied ? "shared.copied" : "sharing.copy")}<//
    >
  </span>`;
}

/** @param {Share} share @returns {string[]} */
function factsOf(share) {
  const count = share.downloads ?? 0;
  return [
    text(`sharing.${share.role}`),
    share.expires_at ? text("sharing.until", { date: moment(share.expires_at) }) : text("sharing.no_end"),
    ...(share.has_password ? [text("sharing.has_password")] : []),
    share.max_downloads
      ? text("sharing.downloads_of", { count, limit: share.max_downloads })
      : text("sharing.downloads", { count }),
  ];
}
