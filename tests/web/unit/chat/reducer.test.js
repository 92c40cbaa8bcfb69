import assert from "node:assert/strict";
import { test } from "node:test";
import { withEvent } from "../../../../api/web/chat/conversation/reducer.js";
import { isActive, newTurn } from "../../../../api/web/chat/conversation/turn.js";

/** @param {Array<[string, any]>} events @returns {any[]} numbered as a run numbers them */
const numbered = (events) => events.map(([type, data], at) => ({ id: String(at + 1), type, data: { type, ...data } }));

/** @param {Array<[string, any]>} events */
const turnOf = (...events) => numbered(events).reduce(withEvent, newTurn({ key: "k", message: "Hello" }));

/** @param {string} text @param {any} [facts] @returns {[string, any]} */
const said = (text, facts) => ["content", { message_id: "m", text, ...facts }];
/** @type {[string, any]} */
const PLAN = [
  "task_plan",
  {
    plan_id: "p",
    version: 1,
    steps: [
      { id: "1", title: "One", status: "pending" },
      { id: "2", title: "Two", status: "pending" },
    ],
  },
];
/** @param {string} id @param {string} status @param {any} [facts] @returns {[string, any]} */
const step = (id, status, facts) => ["task_step_update", { step_id: id, status, ...facts }];
/** @type {[string, any]} */
const DONE = ["done", { status: "success", changes: [] }];

test("an event that came already changes nothing, so that a stream may begin anew anywhere", () => {
  const events = numbered([["run", { run_id: "r" }], said("Hel"), said("lo"), DONE]);
  const once = events.reduce(withEvent, newTurn({ key: "k", message: "" }));
  assert.deepEqual([...events, ...events.slice(1)].reduce(withEvent, newTurn({ key: "k", message: "" })), once);
  assert.equal(once.parts.length, 1);
  assert.ok(!isActive(once));
});

test("after a restart a text is said anew in place of what came since the last event of another type", () => {
  const call = ["tool_call_start", { tool_call_id: "c", name: "list_folder", args: {} }];
  const turn = turnOf(
    said("Kept. "),
    /** @type {any} */ (call),
    said("Lo"),
    said("st"),
    said("New.", { restarts: true }),
  );
  const texts = turn.parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  assert.deepEqual(texts, ["Kept. New."]);
});

test("a call is one part from its beginning to its end, also of a server of the person's own", () => {
  const record = { id: "c", toolName: "note", arguments: { text: "a" }, status: "invoking" };
  const turn = turnOf(
    ["tool_call_start", { tool_call_id: "c", name: "mcp__notes__note", args: { text: "a" } }],
    ["assistant.toolCall.updated", { toolCall: record }],
    ["tool_call_end", { tool_call_id: "c", name: "mcp__notes__note", status: "done", result: "noted", duration_ms: 7 }],
  );
  assert.equal(turn.parts.length, 1);
  const [part] = turn.parts;
  assert.ok(part.kind === "call");
  assert.deepEqual([part.status, part.result, part.duration, part.record?.toolName], ["done", "noted", 7, "note"]);
});

test("an edited plan keeps what is known of steps that stay", () => {
  const turn = turnOf(PLAN, step("1", "completed", { result: "Made." }), [
    "plan_edited",
    {
      version: 3,
      steps: [
        { id: "1", title: "One" },
        { id: "3", title: "Three", status: "pending" },
      ],
    },
  ]);
  assert.equal(turn.plan.version, 3);
  assert.deepEqual(
    turn.plan.steps.map((/** @type {any} */ one) => [one.title, one.status, one.result]),
    [
      ["One", "completed", "Made."],
      ["Three", "pending", undefined],
    ],
  );
});

test("a plan whose run is over is done, stopped, interrupted, or waits for an answer", () => {
  const first = step("1", "completed");
  const status = (/** @type {[string, any]} */ second) => turnOf(PLAN, first, second, DONE).plan.status;
  assert.equal(status(step("2", "completed")), "done");
  assert.equal(status(step("2", "failed")), "done");
  assert.equal(status(step("2", "skipped")), "stopped");
  assert.equal(status(step("2", "in-progress")), "interrupted");
  assert.equal(status(step("2", "pending", { question: "Which one?" })), "waiting");
});

test("an approval waits, and is closed by whoever decides", () => {
  const asked = ["approval_needed", { approval_id: "a", actions: [] }];
  const waiting = turnOf(/** @type {any} */ (asked));
  assert.deepEqual([waiting.status, waiting.parts[0].kind], ["waiting", "approval"]);
  const decided = turnOf(/** @type {any} */ (asked), [
    "approval_resolved",
    { approval_id: "a", status: "decided", decisions: [{ type: "reject" }] },
  ]);
  const [part] = decided.parts;
  assert.ok(part.kind === "approval");
  assert.deepEqual([decided.status, part.approval.status, part.approval.decisions.length], ["running", "decided", 1]);
});

test("what turns out to be thoughts leaves the answer, and the answer takes its place", () => {
  const turn = turnOf(
    said("secret pl"),
    ["reasoning", { message_id: "m", text: "secret plan" }],
    said("The answer is 5.", { restarts: true }),
    DONE,
  );
  const shown = turn.parts.map((part) => [part.kind, /** @type {any} */ (part).text]);
  assert.deepEqual(shown, [
    ["reasoning", "secret plan"],
    ["text", "The answer is 5."],
  ]);
});
