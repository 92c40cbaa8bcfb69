import assert from "node:assert/strict";
import { test } from "node:test";
import { storedTurns, withOwnTurns } from "../../../../api/web/chat/conversation/stored_turns.js";
import { newTurn } from "../../../../api/web/chat/conversation/turn.js";

/** @typedef {import("../../../../api/web/chat/conversation/turn.js").TurnStatus} TurnStatus */

const turn = (/** @type {string} */ key, /** @type {string} */ runId, /** @type {TurnStatus} */ status = "success") =>
  newTurn({ key, runId, status, message: key });
const keys = (/** @type {ReturnType<typeof turn>[]} */ turns) => turns.map(({ key }) => key);

test("what was said while the thread was loaded stays, whether it has a run already or not", () => {
  const first = turn("first", "r1");
  for (const said of [turn("sent", "", "sending"), turn("sent", "r2", "running"), turn("sent", "r2")]) {
    assert.deepEqual(keys(withOwnTurns([first], [first, said], new Set(["r1"]))), ["first", "sent"]);
  }
});

test("a turn that the service has is there once", () => {
  const stored = [turn("first", "r1"), turn("second", "r2")];
  assert.deepEqual(keys(withOwnTurns(stored, stored, new Set(["r1"]))), ["first", "second"]);
});

test("a turn that the service no longer has goes", () => {
  const shown = [turn("first", "r1"), turn("second", "r2")];
  assert.deepEqual(keys(withOwnTurns([turn("first", "r1")], shown, new Set(["r1", "r2"]))), ["first"]);
});

test("what could not be sent stays, before the turn that takes events", () => {
  const shown = [turn("first", "r1"), turn("lost", "", "unsent")];
  const stored = [turn("first", "r1"), turn("elsewhere", "r2", "running")];
  assert.deepEqual(keys(withOwnTurns(stored, shown, new Set(["r1"]))), ["first", "lost", "elsewhere"]);
});

test("a turn that goes on keeps the events that came while the thread was loaded", () => {
  const loaded = [turn("first", "r1"), turn("second", "r2", "running")];
  for (const status of /** @type {const} */ (["running", "success"])) {
    const further = { ...turn("second", "r2", status), lastEvent: 5 };
    assert.deepEqual(withOwnTurns(loaded, [turn("first", "r1"), further], new Set(["r1"])).at(-1), further);
  }
});

test("a message that is answered anew takes the place of the version before", () => {
  const stored = [turn("first", "r1")];
  const anew = turn("first", "r2", "running");
  assert.deepEqual(withOwnTurns(stored, [anew], new Set(["r1"])), [anew]);
});

/** @param {"stopped" | "broken_off" | null} incomplete @returns {any} */
const threadOf = (incomplete) => ({
  messages: [
    { id: "r1", role: "user", text: "Go on", tool_calls: [], citations: [], versions: [] },
    { id: "a", role: "assistant", text: "Once upon", tool_calls: [], citations: [], versions: [], incomplete },
  ],
});

test("an answer that ended in the middle keeps its words and says how, also when its run is forgotten", () => {
  for (const [incomplete, status] of /** @type {const} */ ([
    ["stopped", "cancelled"],
    ["broken_off", "error"],
    [null, "success"],
  ])) {
    const [stored] = storedTurns(threadOf(incomplete), []);
    assert.deepEqual([stored.status, stored.parts.length], [status, 1]);
  }
});

test("an answer that goes on is no broken one", () => {
  const [stored] = storedTurns(threadOf("broken_off"), [{ run_id: "r1", status: "running" }]);
  assert.equal(stored.status, "running");
});
