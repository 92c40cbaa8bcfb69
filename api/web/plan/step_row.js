/** A step of a plan: its state, who does it, and what came of it. */

import { Icon } from "../shared/components/icon.js";
import { html } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";
import { AGENTS } from "./steps.js";

/** @type {Record<string, string>} */
const ICONS = {
  pending: "circle",
  "in-progress": "play",
  completed: "check",
  failed: "warning",
  skipped: "minus",
  interrupted: "stop",
};

/** @param {string} agent */
export const agentWords = (agent) => (AGENTS.includes(agent) ? text(`plan.agent.${agent}`) : agent);

/** @param {{step: {status: string, title: string, agent: string, result?: string, error?: string, question?: string}, isActive: boolean}} properties */
export function StepRow({ step, isActive }) {
  const status = isActive || step.status !== "in-progress" ? step.status : "interrupted";
  return html`<li class=${`step ${status}`}>
    <${Icon} name=${ICONS[status]} label=${text(`plan.step.${status}`)} />
    <div>
      <p dir="auto">${step.title}</p>
      <p class="quiet">${agentWords(step.agent)}</p>
      ${step.question && html`<p class="line" dir="auto"><${Icon} name="chat" />${step.question}</p>`}
      ${step.error && html`<p class="line warning" dir="auto"><${Icon} name="warning" />${step.error}</p>`}
    </div>
  </li>`;
}
