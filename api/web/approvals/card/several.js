/** Several calls in one card: one of them in view, and the list of all. */

import { Button, IconButton } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Sentence } from "./names.js";
import { partsOf } from "./preview_parts.js";
import { onPurpose } from "./steady.js";

/** @typedef {import("./card.js").Action} Action */
/** @typedef {ReturnType<typeof import("./deciding.js").useDecisions>} Deciding */

/** @type {Record<string, string>} */
const ICONS = { approve: "check", edit: "check", reject: "close", respond: "chat" };

/** @param {{count: number, at: number, isList: boolean, onGo: (at: number) => void, onList: () => void}} properties */
export function Pager({ count, at, isList, onGo, onList }) {
  const place = text("approval.place", { number: at + 1, count });
  const go = (/** @type {string} */ icon, /** @type {string} */ key, /** @type {number} */ to) =>
    html`<${IconButton}
      icon=${icon}
      label=${text(key)}
      aria-disabled=${to < 0 || to >= count ? "true" : undefined}
      onClick=${() => to >= 0 && to < count && onGo(to)}
    />`;
  return html`<nav class="row approval-pager" aria-label=${text("approval.pages")}>
    ${go("left", "approval.previous", at - 1)}
    <span aria-live="polite">${place}</span>
    ${go("right", "approval.next", at + 1)}
    <${Button} icon="list" aria-expanded=${isList} onClick=${onList}>${text("approval.list")}<//>
  </nav>`;
}

/** @param {{actions: Action[], at: number, deciding: Deciding, onGo: (at: number) => void}} properties */
export function ActionList({ actions, at, deciding, onGo }) {
  return html`<ol class="approval-list" aria-label=${text("approval.list")}>
    ${actions.map((action, index) => {
      const { sentence } = partsOf(action.preview);
      const made = deciding.made[action.tool_call_id];
      return html`<li key=${action.tool_call_id}>
        <button type="button" aria-current=${index === at ? "true" : undefined} onClick=${() => onGo(index)}>
          <${Icon} name=${made ? ICONS[made.type] : "circle"} />
          <span dir="auto">${index + 1}. <${Sentence} sentence=${sentence} action=${action} /></span>
          ${made && html`<span class="quiet">${text(`approval.state.${made.type}`)}</span>`}
        </button>
      </li>`;
    })}
  </ol>`;
}

/** @param {{count: number, deciding: Deciding, isSteady: boolean}} properties */
export function ForAll({ count, deciding, isSteady }) {
  const { made, isSending, decideRest, sendAll } = deciding;
  const decided = Object.keys(made).length;
  const isReady = isSteady && !isSending;
  if (decided === count)
    return html`<footer class="row">
      <${Button} kind="main" icon="send" ...${onPurpose(isReady, sendAll)}>${text("approval.send", { count })}<//>
    </footer>`;
  const left = count - decided;
  return html`<footer class="row">
    <${Button} icon="check" ...${onPurpose(isReady, () => decideRest({ type: "approve" }))}
      >${text(decided ? "approval.approve_rest" : "approval.approve_all", { count: left })}<//
    >
    <${Button}
      icon="close"
      aria-disabled=${isSending ? "true" : undefined}
      onClick=${() => isSending || decideRest({ type: "reject" })}
      >${text(decided ? "approval.reject_rest" : "approval.reject_all", { count: left })}<//
    >
  </footer>`;
}
