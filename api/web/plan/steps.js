/** The steps of a plan that can still be changed, as they are changed: a list that knows no page. */

/** @typedef {import("../shared/api/types.js").Schema<"PlanStepView">} Step */
/** @typedef {import("../shared/api/types.js").Schema<"StepPatch">["agent"]} Agent */
/** @typedef {{id: string, isNew: boolean, title: string, agent: string, instruction: string, dependsOn: string[]}} EditedStep */

export const AGENTS = ["drive_agent", "document_agent", "search_agent"];
const NEW_AGENT = "drive_agent";

/** Say whether a step can be changed: it has not begun. @param {Step} step */
const isOpen = (step) => step.status === "pending" && !step.attempts;

/** The steps that can be changed, in their order. @param {Step[]} steps @returns {EditedStep[]} */
export const editableSteps = (steps) =>
  steps.filter(isOpen).map(({ id, title, agent, instruction, depends_on: dependsOn = [] }) => ({
    id,
    isNew: false,
    title,
    agent,
    instruction,
    dependsOn,
  }));

/** @param {EditedStep[]} steps @param {string} id @param {Partial<EditedStep>} facts */
export const withChanged = (steps, id, facts) => steps.map((step) => (step.id === id ? { ...step, ...facts } : step));

/** Take a step out; what needed it needs it no more. @param {EditedStep[]} steps @param {string} id */
export const withoutStep = (steps, id) =>
  steps
    .filter((step) => step.id !== id)
    .map((step) => ({ ...step, dependsOn: step.dependsOn.filter((needed) => needed !== id) }));

/** Add an empty step at the end. @param {EditedStep[]} steps @returns {EditedStep[]} */
export function withNewStep(steps) {
  let number = 1;
  while (steps.some((step) => step.id === `new-${number}`)) number += 1;
  return [...steps, { id: `new-${number}`, isNew: true, title: "", agent: NEW_AGENT, instruction: "", dependsOn: [] }];
}

/** Move a step by one place. @param {EditedStep[]} steps @param {string} id @param {-1 | 1} by */
export function withMoved(steps, id, by) {
  const from = steps.findIndex((step) => step.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= steps.length) return steps;
  const moved = [...steps];
  [moved[from], moved[to]] = [moved[to], moved[from]];
  return moved;
}

/**
 * The list as the service takes it. What was not changed is not sent; a new step's title is its instruction.
 * @param {EditedStep[]} edited
 * @param {Step[]} before
 */
export function patchOf(edited, before) {
  const known = new Map(editableSteps(before).map((step) => [step.id, step]));
  return edited.map((step) => {
    const old = known.get(step.id);
    const agent = /** @type {Agent} */ (step.agent);
    const instruction = step.instruction.trim();
    if (!old) return { id: step.id, agent, instruction, title: step.title.trim() || instruction };
    return {
      id: step.id,
      ...(step.title !== old.title && { title: step.title.trim() }),
      ...(step.agent !== old.agent && { agent }),
      ...(step.instruction !== old.instruction && { instruction }),
      ...(step.dependsOn.length !== old.dependsOn.length && { depends_on: step.dependsOn }),
    };
  });
}

/** How many steps are over, however they ended. @param {Array<{status: string}>} steps */
export const countDone = (steps) => steps.filter((step) => step.status === "completed").length;
