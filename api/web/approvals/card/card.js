/** The card of an approval: all calls of a turn that wait for the person, each shown as what it will do. */

import { Button } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { describe } from "../../shared/components/problems.js";
import { html, useEffect, useId, useRef } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { look } from "../waiting_list.js";
import { ActionView } from "./action.js";
import { Closed } from "./closed.js";
import { Countdown } from "./countdown.js";
import { useDecisions } from "./deciding.js";
import { partsOf } from "./preview_parts.js";
import { Question } from "./question.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/card.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"ApprovalAction">} Action */
/** @typedef {{approval_id: string, expires_at: string, actions: Action[], status: string, decisions?: any[]}} Shown as the events of the run tell it */

/** @param {{approval: Shown}} properties */
export function ApprovalCard({ approval }) {
  // The list in the header counts what is asked, and no more what is decided, without waiting for its turn.
  useEffect(() => void look(), [approval.status]);
  const waited = useRef(false);
  if (approval.status === "waiting") waited.current = true;
  return approval.status === "waiting"
    ? html`<${Waiting} approval=${approval} />`
    : html`<${Closed} approval=${approval} waited=${waited.current} />`;
}

/** @param {{approval: Shown}} properties */
function Waiting({ approval }) {
  const { approval_id: id, actions, expires_at: until } = approval;
  const heading = useId();
  const deciding = useDecisions(
    id,
    actions.map((action) => action.tool_call_id),
  );
  if (deciding.closed) return html`<${Closed} approval=${{ ...approval, ...deciding.closed }} waited />`;
  const title = text(actions[0].question ? "approval.question" : "approval.title", { count: actions.length });
  const first = partsOf(actions[0].preview).sentence;
  return html`<section class="approval" aria-labelledby=${`approval${heading}`}>
    <p class="hidden" role="alert">${title}: ${first}</p>
    <header>
      <h3 id=${`approval${heading}`}><${Icon} name="lock" />${title}</h3>
      <${Countdown} until=${until} />
    </header>
    ${actions.map((action) =>
      action.question
        ? html`<${Question}
            key=${action.tool_call_id}
            action=${action}
            question=${action.question}
            deciding=${deciding}
          />`
        : html`<${ActionView}
            key=${action.tool_call_id}
            action=${action}
            approvalId=${id}
            deciding=${deciding}
            isOnly=${actions.length === 1}
          />`,
    )}
    <${Wrong} problem=${deciding.problem} />
    ${actions.length > 1 && html`<${ForAll} count=${actions.length} deciding=${deciding} />`}
  </section>`;
}

/** @param {{problem: unknown}} properties */
function Wrong({ problem }) {
  if (!problem) return null;
  const { title, hint, requestId } = describe(problem);
  const id = requestId && text("shared.request_id", { id: requestId });
  return html`<p class="field-problem" role="alert">${[title, hint, id].filter(Boolean).join(" ")}</p>`;
}

/** @param {{count: number, deciding: ReturnType<typeof useDecisions>}} properties */
function ForAll({ count, deciding }) {
  const { made, isSending, decideRest, sendAll } = deciding;
  const decided = Object.keys(made).length;
  const busy = isSending ? "true" : undefined;
  if (decided === count)
    return html`<footer class="row">
      <${Button} kind="main" icon="send" aria-disabled=${busy} onClick=${sendAll}
        >${text("approval.send", { count })}<//
      >
    </footer>`;
  const left = count - decided;
  return html`<footer class="row">
    <${Button} icon="check" aria-disabled=${busy} onClick=${() => decideRest({ type: "approve" })}
      >${text(decided ? "approval.approve_rest" : "approval.approve_all", { count: left })}<//
    >
    <${Button} icon="close" aria-disabled=${busy} onClick=${() => decideRest({ type: "reject" })}
      >${text(decided ? "approval.reject_rest" : "approval.reject_all", { count: left })}<//
    >
  </footer>`;
}
