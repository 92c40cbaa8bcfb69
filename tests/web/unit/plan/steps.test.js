import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countDone,
  editableSteps,
  patchOf,
  withChanged,
  withMoved,
  withNewStep,
  withoutStep,
} from "../../../../api/web/plan/steps.js";

/** @param {string} id @param {any} [facts] @returns {any} */
const step = (id, facts) => ({
  id,
  title: `Title ${id}`,
  agent: "drive_agent",
  instruction: `Do ${id}`,
  status: "pending",
  attempts: 0,
  depends_on: [],
  ...facts,
});
const PLAN = [
  step("1", { status: "completed", attempts: 1 }),
  step("2", { attempts: 1 }),
  step("3"),
  step("4", { depends_on: ["2", "3"] }),
];

test("only steps that have not begun can be changed, also not one that was asked about and waits", () => {
  assert.deepEqual(
    editableSteps(PLAN).map((one) => one.id),
    ["3", "4"],
  );
  assert.equal(countDone(PLAN), 1);
});

test("nothing is sent of a step that stays as it is, and of another only what was changed", () => {
  const steps = withChanged(editableSteps(PLAN), "4", { instruction: " Do it well ", agent: "search_agent" });
  assert.deepEqual(patchOf(steps, PLAN), [{ id: "3" }, { id: "4", agent: "search_agent", instruction: "Do it well" }]);
});

test("what needed a step that is taken out needs it no more, and still needs the others", () => {
  assert.deepEqual(patchOf(withoutStep(editableSteps(PLAN), "3"), PLAN), [{ id: "4", depends_on: ["2"] }]);
});

test("new steps have names of their own, and their instruction as title if they have none", () => {
  const one = withNewStep([]);
  const two = withNewStep(withChanged(one, "new-1", { instruction: "写一份摘要" }));
  assert.deepEqual(
    two.map((each) => each.id),
    ["new-1", "new-2"],
  );
  assert.deepEqual(patchOf(two, PLAN)[0], {
    id: "new-1",
    agent: "drive_agent",
    instruction: "写一份摘要",
    title: "写一份摘要",
  });
  assert.equal(withNewStep(withoutStep(two, "new-1")).at(-1)?.id, "new-1");
});

test("a step moves by one place, and not beyond the ends", () => {
  const steps = editableSteps(PLAN);
  assert.deepEqual(
    withMoved(steps, "4", -1).map((one) => one.id),
    ["4", "3"],
  );
  assert.equal(withMoved(steps, "4", 1), steps);
  assert.equal(withMoved(steps, "3", -1), steps);
  assert.equal(withMoved(steps, "gone", 1), steps);
});
