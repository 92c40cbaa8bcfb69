/** One version in the list. */

import { Button, IconButton } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { moment, size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("../../shared/api/types.js").Schema<"Version">} Version */

/**
 * @param {object} properties
 * @param {Version} properties.version
 * @param {number} properties.newest
 * @param {(pair: [number, number]) => void} properties.onCompare
 * @param {(version: Version) => void} properties.onShow
 * @param {(version: Version) => void} properties.onRestore
 */
export function VersionRow({ version, newest, onCompare, onShow, onRestore }) {
  const { number, author, run_id: run, current } = version;
  const who = run ? text("versions.by_assistant", { author }) : text("versions.by", { author });
  const compare = () => onCompare(current ? [number - 1, number] : [number, newest]);
  const comparison = text(current ? "versions.compare_before" : "versions.compare", { number });
  return html`<li class="version">
    <span class="version-number">${number}</span>
    <div class="version-words">
      <strong
        >${moment(version.created_at)}${current && html` <span class="version-current">${text("versions.current")}</span>`}</strong
      >
      <span class="quiet">${who} · ${size(version.size)}</span>
    </div>
    <div class="row">
      ${newest > 1 && html`<${IconButton} icon="compare" label=${comparison} onClick=${compare} />`}
      <${IconButton} icon="text" label=${text("versions.show", { number })} onClick=${() => onShow(version)} />
      ${
        !current &&
        html`<${Button}
          icon="restore"
          aria-label=${text("versions.restore_one", { number })}
          onClick=${() => onRestore(version)}
        >
          ${text("versions.restore")}
        <//>`
      }
    </div>
  </li>`;
}
