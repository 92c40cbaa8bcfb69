/** Change the steps of a plan that have not begun: their words, who does them, their order; new ones, and fewer. */

import { get, patch } from "../shared/api/request.js";
import { Problem } from "../shared/api/problem.js";
import { Button, IconButton } from "../shared/components/button.js";
import { announce } from "../shared/components/notices.js";
import { describe } from "../shared/components/problems.js";
import { Failure, Loading } from "../shared/components/states.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";
import { agentWords } from "./step_row.js";
import { AGENTS, editableSteps, patchOf, withChanged, withMoved, withNewStep, withoutStep } from "./steps.js";

/** @typedef {import("../shared/api/types.js").Schema<"PlanView">} Plan */
/** @typedef {import("./steps.js").EditedStep} EditedStep */

const MAX_TITLE = 1_000;
const MAX_INSTRUCTION = 10_000;

/** @param {{threadId: string, onClose: () => void}} properties */
export function PlanEditor({ threadId, onClose }) {
  const [plan, setPlan] = useState(/** @type {Plan | null} */ (null));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const load = async () => {
    setProblem(null);
    try {
      setPlan(await get(`/api/threads/${threadId}/plan`));
    } catch (failure) {
      setProblem(failure);
    }
  };
  useEffect(() => void load(), [threadId]);
  if (problem) return html`<${Failure} error=${problem} onRetry=${load} />`;
  if (!plan) return html`<${Loading} />`;
  return html`<${Steps} key=${plan.version} plan=${plan} onReload=${load} onClose=${onClose} />`;
}

/** @param {{plan: Plan, onReload: () => Promise<void>, onClose: () => void}} properties */
function Steps({ plan, onReload, onClose }) {
  const [steps, setSteps] = useState(() => editableSteps(plan.steps));
  const { save, problem, isSending } = useSaving(plan, onClose);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const focusField = (/** @type {number} */ at) =>
    requestAnimationFrame(() => form.current?.querySelectorAll("textarea")[at]?.focus());
  useLayoutEffect(() => form.current?.querySelector("textarea")?.focus(), []);
  const add = () => {
    setSteps(withNewStep(steps));
    focusField(steps.length);
  };
  const move = (/** @type {EditedStep} */ step, /** @type {-1 | 1} */ by) => {
    const moved = withMoved(steps, step.id, by);
    if (moved === steps) return;
    setSteps(moved);
    announce(text("plan.moved", { place: moved.findIndex((one) => one.id === step.id) + 1, count: moved.length }));
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!isSending) void save(steps);
  };
  const isOld = problem instanceof Problem && problem.code === "plan_changed";
  return html`<form ref=${form} class="plan-editor" onSubmit=${submit} aria-label=${text("plan.edit")}>
    <p class="quiet">${text(steps.length ? "plan.edit_hint" : "plan.nothing_left")}</p>
    <div class="plan-steps">
      ${steps.map(
        (step, at) =>
          html`<${StepFields}
            key=${step.id}
            step=${step}
            at=${at}
            count=${steps.length}
            onChange=${(/** @type {Partial<EditedStep>} */ facts) => setSteps(withChanged(steps, step.id, facts))}
            onMove=${(/** @type {-1 | 1} */ by) => move(step, by)}
            onRemove=${() => setSteps(withoutStep(steps, step.id))}
          />`,
      )}
    </div>
    <${Wrong} problem=${problem} />
    <div class="row">
      ${
        isOld
          ? html`<${Button} kind="main" icon="restore" onClick=${onReload}>${text("plan.reload")}<//>`
          : html`<${Button} kind="main" type="submit" aria-disabled=${isSending ? "true" : undefined}
              >${text("plan.save")}<//
            >`
      }
      <${Button} icon="plus" onClick=${add}>${text("plan.add")}<//>
      <${Button} onClick=${onClose}>${text("shared.cancel")}<//>
    </div>
  </form>`;
}

/** Send the steps, held to the version that was seen. @param {Plan} plan @param {() => void} onSaved */
function useSaving(plan, onSaved) {
  const [state, setState] = useState({ isSending: false, problem: /** @type {unknown} */ (null) });
  const save = async (/** @type {EditedStep[]} */ steps) => {
    setState({ isSending: true, problem: null });
    try {
      const body = { version: plan.version, steps: patchOf(steps, plan.steps) };
      await patch(`/api/threads/${plan.thread_id}/plan`, body);
      announce(text("plan.saved"));
      onSaved();
    } catch (problem) {
      setState({ isSending: false, problem });
    }
  };
  return { ...state, save };
}

/** @param {{problem: any}} properties */
function Wrong({ problem }) {
  if (!problem) return null;
  const { title, hint } = describe(problem);
  return html`<p class="field-problem" role="alert">${[title, hint].filter(Boolean).join(" ")}</p>`;
}

/** @param {{step: EditedStep, at: number, count: number, onChange: (facts: Partial<EditedStep>) => void, onMove: (by: -1 | 1) => void, onRemove: () => void}} properties */
function StepFields({ step, at, count, onChange, onMove, onRemove }) {
  const label = text("plan.step_number", { number: at + 1 });
  const disabled = (/** @type {boolean} */ is) => (is ? "true" : undefined);
  return html`<fieldset class="plan-fields">
    <legend class="hidden">${label}</legend>
    <div class="row">
      <label class="field grow"
        ><span>${text("plan.field.title")}</span
        ><input
          dir="auto"
          maxlength=${MAX_TITLE}
          required=${!step.isNew}
          placeholder=${step.isNew ? text("plan.field.title_optional") : undefined}
          value=${step.title}
          onInput=${(/** @type {any} */ event) => onChange({ title: event.currentTarget.value })}
        />
      </label>
      <label class="field"
        ><span>${text("plan.field.agent")}</span
        ><select onChange=${(/** @type {any} */ event) => onChange({ agent: event.currentTarget.value })}>
          ${AGENTS.map((agent) => html`<option key=${agent} value=${agent} selected=${agent === step.agent}>${agentWords(agent)}</option>`)}
        </select>
      </label>
    </div>
    <label class="field"
      ><span>${text("plan.field.instruction")}</span
      ><textarea
        dir="auto"
        rows="2"
        maxlength=${MAX_INSTRUCTION}
        required
        value=${step.instruction}
        onInput=${(/** @type {any} */ event) => onChange({ instruction: event.currentTarget.value })}
      ></textarea>
    </label>
    <div class="row plan-moves">
      <${IconButton}
        icon="up"
        label=${text("plan.up", { step: label })}
        aria-disabled=${disabled(at === 0)}
        onClick=${() => onMove(-1)}
      />
      <${IconButton}
        icon="down"
        label=${text("plan.down", { step: label })}
        aria-disabled=${disabled(at === count - 1)}
        onClick=${() => onMove(1)}
      />
      <${IconButton} icon="trash" label=${text("plan.remove", { step: label })} onClick=${onRemove} />
    </div>
  </fieldset>`;
}
