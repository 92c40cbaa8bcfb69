/** The plan of a thread: its steps with their states; paused, resumed, stopped and changed while it goes on. */

import { post } from "../shared/api/request.js";
import { Button } from "../shared/components/button.js";
import { Icon } from "../shared/components/icon.js";
import { Lazy } from "../shared/components/lazy.js";
import { notifyProblem } from "../shared/components/notices.js";
import { html, useEffect, useId, useState } from "../shared/preact.js";
import { loadStyles } from "../shared/styles/load.js";
import { loadTexts, text } from "../shared/texts/texts.js";
import { StepRow } from "./step_row.js";
import { countDone } from "./steps.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/plan.css")]);

/** @typedef {"run" | "pause" | "stop"} Command */
/** @typedef {{plan_id: string, version: number, status: string, steps: any[], why?: string}} Shown as the events of the run tell it */

const AT_WORK = new Set(["running", "paused", "revising"]);
const loadEditor = () => import("./editor.js").then((module) => module.PlanEditor);

/** @param {{plan: Shown, threadId: string, isActive: boolean}} properties `isActive`: its run is not over */
export function PlanView({ plan, threadId, isActive }) {
  const heading = useId();
  const [isEdited, setEdited] = useState(false);
  const canChange = isActive && AT_WORK.has(plan.status);
  const { wanted, isSending, command } = useCommand(threadId, plan);
  return html`<section class="plan" aria-labelledby=${`plan${heading}`}>
    <header>
      <h3 id=${`plan${heading}`}><${Icon} name="list" />${text("plan.title")}</h3>
      <p class="quiet" role="status">${stateWords(plan, isActive, wanted)}</p>
    </header>
    ${plan.why && html`<p class="line"><${Icon} name="info" /><span dir="auto">${text("plan.revised", { why: plan.why })}</span></p>`}
    ${
      isEdited && canChange
        ? html`<${Lazy} load=${loadEditor} threadId=${threadId} onClose=${() => setEdited(false)} />`
        : html`<ol>
            ${plan.steps.map((step) => html`<${StepRow} key=${step.id} step=${step} isActive=${isActive} />`)}
          </ol>`
    }
    ${
      canChange &&
      !isEdited &&
      html`<div class="row plan-ways">
        ${
          plan.status === "paused"
            ? html`<${Button} kind="main" icon="play" onClick=${() => command("run")}>${text("plan.resume")}<//>`
            : html`<${Button}
                icon="pause"
                aria-disabled=${isSending || wanted ? "true" : undefined}
                onClick=${() => command("pause")}
                >${text("plan.pause")}<//
              >`
        }
        <${Button} icon="edit" onClick=${() => setEdited(true)}>${text("plan.edit")}<//>
        <${Button}
          icon="stop"
          aria-disabled=${isSending || wanted === "stop" ? "true" : undefined}
          onClick=${() => command("stop")}
          >${text("plan.stop")}<//
        >
      </div>`
    }
  </section>`;
}

/** What the service was told, until the plan does it: between two steps. @param {string} threadId @param {Shown} plan */
function useCommand(threadId, plan) {
  const [wanted, setWanted] = useState(/** @type {Command | ""} */ (""));
  const [isSending, setSending] = useState(false);
  useEffect(() => setWanted(""), [plan.status]);
  const command = async (/** @type {Command} */ given) => {
    if (isSending || wanted === given) return;
    setSending(true);
    try {
      await post(`/api/threads/${threadId}/plan/${given === "run" ? "resume" : given}`);
      setWanted(given);
    } catch (problem) {
      notifyProblem(problem);
    }
    setSending(false);
  };
  return { wanted, isSending, command };
}

/** @param {Shown} plan @param {boolean} isActive @param {Command | ""} wanted */
function stateWords({ status, steps }, isActive, wanted) {
  const done = text("plan.done_of", { done: countDone(steps), count: steps.length });
  const state = isActive && (wanted === "pause" || wanted === "stop") ? `${wanted}_wanted` : status;
  return state === "done" || state === "running" ? done : `${done} · ${text(`plan.state.${state}`)}`;
}
