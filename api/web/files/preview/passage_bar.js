/** Which passage of which version is shown, and the two ways to see some files. */

import { Button } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { go } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { kindOf } from "./kinds.js";
import { parsePlace } from "./passage.js";

/** @typedef {import("./kinds.js").Item} Item */

/**
 * @param {{item: Item, passage: import("./passage.js").Passage, asText: boolean, onChange: ((asText: boolean) => void) | null}} properties
 */
export function PassageBar({ item, passage, asText, onChange }) {
  const isOlder = passage.version !== null && passage.version !== item.version;
  const isCited = passage.start !== null;
  const newest = () => go(["file", item.id]);
  if (!isOlder && !isCited && !onChange) return null;
  return html`<div class=${`passage-bar ${isOlder ? "older" : ""}`} role="note">
    ${(isOlder || isCited) && html`<${Icon} name=${isOlder ? "history" : "link"} /><span class="passage-words">${words(item, passage)}</span>`}
    ${onChange && html`<${Ways} item=${item} asText=${asText} onChange=${onChange} />`}
    ${isOlder && html`<${Button} onClick=${newest}>${text("preview.newest")}<//>`}
  </div>`;
}

/** @param {Item} item @param {import("./passage.js").Passage} passage */
function words(item, passage) {
  const place = parsePlace(passage.place);
  const at = place ? text(`preview.place.${place.kind}`, { at: place.at, name: place.name }) : "";
  const isOlder = passage.version !== null && passage.version !== item.version;
  const values = { version: passage.version ?? item.version, newest: item.version };
  const which = isOlder ? text("preview.older", values) : text("preview.current", values);
  return [passage.start === null ? "" : text("preview.cited"), at, which].filter(Boolean).join(" · ");
}

/** @param {{item: Item, asText: boolean, onChange: (asText: boolean) => void}} properties */
function Ways({ item, asText, onChange }) {
  const kind = kindOf(item);
  const way = (/** @type {boolean} */ isText, /** @type {string} */ words) =>
    html`<button type="button" class="button" aria-pressed=${asText === isText} onClick=${() => onChange(isText)}>
      ${words}
    </button>`;
  return html`<div class="ways" role="group" aria-label=${text("preview.ways")}>
    ${way(false, text(`preview.way.${kind}`))} ${way(true, text("preview.way.text"))}
  </div>`;
}
