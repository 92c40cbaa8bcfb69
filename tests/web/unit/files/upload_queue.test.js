import assert from "node:assert/strict";
import test from "node:test";

import { Problem } from "../../../../api/web/shared/api/problem.js";
import { UploadQueue } from "../../../../api/web/files/uploads/queue.js";
import { Upload } from "../../../../api/web/files/uploads/upload.js";

const settle = () => new Promise((resolve) => setTimeout(resolve));

/** A queue whose sending is in the test's hands. */
function queueOf(answers = []) {
  const sent = new Map();
  const means = {
    sent,
    asked: [],
    send: (upload, listener) => (sent.set(upload.name, { upload, ...listener }), { stop() {}, discard() {} }),
    ask: async (upload) => (means.asked.push(upload.name), answers.shift()),
    signIn: async () => true,
  };
  return [new UploadQueue(means), means];
}

const uploads = (...names) => {
  const batch = { choice: "" };
  return names.map((name) => new Upload({ file: { name, size: 10, lastModified: 1 }, folderId: "root", batch }));
};
const states = (queue) => queue.list.value.map((upload) => upload.state.value);
const taken = () => new Problem(409, { code: "name_conflict", details: { existing_kind: "file" } });

test("three go at once, and the next one when one is there", () => {
  const [queue, { sent }] = queueOf();
  queue.add(uploads("a", "b", "c", "d"));
  assert.deepEqual(states(queue), ["sending", "sending", "sending", "waiting"]);
  sent.get("b").done("item");
  assert.deepEqual(states(queue), ["sending", "done", "sending", "sending"]);
});

test("two of one name go one after the other", () => {
  const [queue, { sent }] = queueOf();
  queue.add(uploads("a", "a"));
  assert.deepEqual(states(queue), ["sending", "waiting"]);
  sent.get("a").done("item");
  assert.deepEqual(states(queue), ["done", "sending"]);
});

test("one answer counts for all that were chosen together", async () => {
  const [queue, means] = queueOf([{ choice: "rename", forAll: true }]);
  queue.add(uploads("a", "b"));
  means.sent.get("a").problem(taken());
  means.sent.get("b").problem(taken());
  await settle();
  assert.deepEqual(means.asked, ["a"]);
  assert.deepEqual(
    queue.list.value.map((upload) => upload.onConflict),
    ["rename", "rename"],
  );
  assert.deepEqual(states(queue), ["sending", "sending"]);
});

test("what is skipped or cancelled while the person thinks counts for nothing", async () => {
  const [queue, means] = queueOf([{ choice: "skip", forAll: false }]);
  queue.add(uploads("a", "b"));
  means.sent.get("a").problem(taken());
  means.sent.get("b").problem(taken());
  queue.cancel(queue.list.value[1]);
  await settle();
  assert.deepEqual(states(queue), ["skipped", "cancelled"]);
  assert.equal(queue.totals.value.count, 0);
});

test("without a network it waits, and goes on when there is one", () => {
  const [queue, { sent }] = queueOf();
  queue.add(uploads("a"));
  sent.get("a").problem(new Problem(0, {}));
  assert.deepEqual(states(queue), ["offline"]);
  queue.wake();
  assert.deepEqual(states(queue), ["sending"]);
});

test("what a paused sending still says is not heard", () => {
  const [queue, { sent }] = queueOf();
  queue.add(uploads("a"));
  const earlier = sent.get("a");
  queue.pause(queue.list.value[0]);
  earlier.problem(new Problem(500, {}));
  assert.deepEqual(states(queue), ["paused"]);
  queue.all("resume");
  earlier.done("item");
  assert.deepEqual(states(queue), ["sending"]);
});

test("a session that is over asks to sign in, and goes on", async () => {
  const [queue, { sent }] = queueOf();
  queue.add(uploads("a"));
  sent.get("a").problem(new Problem(401, {}));
  assert.deepEqual(states(queue), ["asking"]);
  await settle();
  assert.deepEqual(states(queue), ["sending"]);
});
