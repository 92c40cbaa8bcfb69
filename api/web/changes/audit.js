/** The record of a run: each call, who allowed it, and what it changed. */

import { get } from "../shared/api/request.js";
import { Dialog } from "../shared/components/dialogs.js";
import { Failure, Loading } from "../shared/components/states.js";
import { html, useEffect, useState } from "../shared/preact.js";
import { duration, moment } from "../shared/texts/format.js";
import { text } from "../shared/texts/texts.js";

/** @typedef {import("../shared/api/types.js").Schema<"RunAudit">} RunAudit */
/** @typedef {import("../shared/api/types.js").Schema<"AuditedCallView">} Call */

/** @param {{runId: string, onClose: () => void}} properties */
export function Audit({ runId, onClose }) {
  const [state, setState] = useState(/** @type {{audit?: RunAudit, error?: unknown}} */ ({}));
  const load = () => {
    setState({});
    get(`/api/runs/${encodeURIComponent(runId)}/audit`).then(
      (audit) => setState({ audit }),
      (error) => setState({ error }),
    );
  };
  useEffect(load, [runId]);
  return html`<${Dialog} title=${text("changes.audit")} class="wide" onClose=${onClose}>
    ${Boolean(state.error) && html`<${Failure} error=${state.error} onRetry=${load} />`}
    ${!state.audit && !state.error && html`<${Loading} />`}
    <ol class="audit">
      ${state.audit?.calls.map((call) => html`<${AuditedCall} key=${call.tool_call_id} call=${call} />`)}
    </ol>
  <//>`;
}

/** @param {{call: Call}} properties */
function AuditedCall({ call }) {
  return html`<li>
    <p>
      <code>${call.tool}</code> · ${text(`changes.call.${call.status ?? "open"}`)}
      ${call.duration_ms !== null && html` · ${duration(call.duration_ms)}`}
    </p>
    ${call.asked.map((asked) => html`<p class="quiet">${askedWords(asked)}</p>`)}
    ${call.covered_by && html`<p class="quiet">${text("changes.covered")}</p>`}
    <ul class="change-lines">
      ${call.changes.map((change) => html`<li>${change.summary}</li>`)}
    </ul>
    <details>
      <summary>${text("changes.arguments")}</summary>
      <pre tabindex="0">${JSON.stringify(call.args, null, 2)}</pre>
    </details>
  </li>`;
}

/** @param {import("../shared/api/types.js").Schema<"AuditedApprovalView">} asked */
function askedWords(asked) {
  const who = asked.decided_by ?? "";
  const when = moment(asked.decided_at ?? asked.asked_at);
  const kind = asked.status === "decided" ? (asked.decision ?? "approve") : asked.status;
  return [text(`changes.asked.${kind}`, { who, when }), asked.message].filter(Boolean).join(" ");
}
