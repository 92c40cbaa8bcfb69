/** How a turn ended, where that is not simply an answer: an error, a limit, a stop; and what a replaced version did. */

import { Button } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { Lazy } from "../../shared/components/lazy.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { regenerate, shownVersion } from "../conversation/conversation.js";
import { isActive } from "../conversation/turn.js";
import { Replaced } from "./replaced.js";

/** @typedef {import("../conversation/turn.js").Turn} Turn */

const HINTS = new Set([
  "model_rate_limited",
  "model_quota",
  "model_unavailable",
  "model_timeout",
  "model_output",
  "model_length",
  "model_authentication",
  "model_not_found",
  "model_request",
  "model_context",
]);

const loadChanges = () => import("../../changes/run_changes.js").then((module) => module.RunChanges);

/** @param {{turn: Turn, isLast: boolean}} properties */
export function TurnEnd({ turn, isLast }) {
  return html`
    ${turn.limit && html`<p class="line warning" role="status"><${Icon} name="info" />${turn.limit.message}</p>`}
    ${turn.status === "cancelled" && html`<p class="line"><${Icon} name="stop" />${text("chat.stopped")}</p>`}
    ${turn.status === "error" && html`<${Failed} turn=${turn} isLast=${isLast} />`}
    ${mayHaveChanged(turn) && html`<${Lazy} load=${loadChanges} runId=${turn.runId} changes=${turn.changes ?? []} groups=${turn.groups} />`}
    ${turn.replaces?.undo && html`<${Replaced} run=${turn.replaces} />`}
  `;
}

/** Of a turn that is shown again it is not known what it changed; without a call that is nothing. @param {Turn} turn */
function mayHaveChanged(turn) {
  if (!turn.runId || isActive(turn)) return false;
  return turn.changes === null ? turn.parts.some((part) => part.kind === "call") : turn.changes.length > 0;
}

/** @param {{turn: Turn, isLast: boolean}} properties */
function Failed({ turn, isLast }) {
  const { code = "", message = "", retryable = true } = turn.error ?? {};
  // Why an earlier turn failed is not stored, but the words that it left are.
  const isBrokenOff = turn.parts.at(-1)?.kind === "text";
  return html`<div class="failed" role=${isLast ? "alert" : undefined}>
    <p class="line danger"><${Icon} name="warning" />${text(isBrokenOff ? "chat.broken_off" : "chat.failed")}</p>
    ${message && html`<p>${message}</p>`} ${HINTS.has(code) && html`<p class="quiet">${text(`chat.hint.${code}`)}</p>`}
    ${isLast && retryable && !shownVersion.value && html`<${Button} icon="restore" onClick=${() => regenerate(turn)}>${text("shared.retry")}<//>`}
  </div>`;
}
