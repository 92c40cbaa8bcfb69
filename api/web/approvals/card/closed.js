/** An approval that waits no more: a quiet line for each call. */

import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { decidedHere } from "./deciding.js";
import { Sentence } from "./names.js";
import { partsOf } from "./preview_parts.js";

const ICONS = { approve: "check", edit: "edit", reject: "close", respond: "chat" };

/**
 * @param {{approval: any, waited?: boolean}} properties with the words of the events (`resolved`) or of the service
 *   (`decided`); `waited`: it was open in this page
 */
export function Closed({ approval, waited = false }) {
  const { approval_id: id, actions, status, decisions = [] } = approval;
  if (status === "expired" || status === "cancelled")
    return html`<p class="line"><${Icon} name="clock" />${text(`approval.${status}`, { count: actions.length })}</p>`;
  const made = new Map(decisions.map((/** @type {any} */ one) => [one.tool_call_id, one]));
  return html`<div class="approval-closed">
    ${actions.map((/** @type {any} */ action) => {
      const { type = "approve", message = "", grant_id: grant, about } = made.get(action.tool_call_id) ?? {};
      const words = text(grant ? "approval.made.grant" : `approval.made.${type}`);
      // With changes it is another call than the one that was asked about.
      const sentence = about && type === "edit" ? about : partsOf(action.preview).sentence;
      return html`<p class="line" key=${action.tool_call_id} dir="auto">
        <${Icon} name=${ICONS[/** @type {keyof typeof ICONS} */ (type)] ?? "check"} />
        <span
          >${words}${" "}${action.question ? text("approval.asks", { server: action.question.server_name }) : html`<${Sentence} sentence=${sentence} action=${action} />`}${message && html` <q>${message}</q>`}</span
        >
      </p>`;
    })}
    ${waited && !decidedHere.has(id) && html`<p class="quiet">${text("approval.elsewhere")}</p>`}
  </div>`;
}
