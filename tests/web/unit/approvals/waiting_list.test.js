import assert from "node:assert/strict";
import { test } from "node:test";
import { look, waiting } from "../../../../api/web/approvals/waiting_list.js";

test("an answer that is overtaken by a later one's does not bring back what it said", async (context) => {
  /** @type {Array<(ids: string[]) => void>} */
  const answers = [];
  const answer = (/** @type {string[]} */ ids) =>
    Response.json({ items: ids.map((approval_id) => ({ approval_id, actions: [] })) });
  context.mock.method(globalThis, "fetch", () => new Promise((tell) => answers.push((ids) => tell(answer(ids)))));
  const [first, second] = [look(), look()];
  answers[1](["new"]);
  await second;
  answers[0]([]);
  await first;
  assert.deepEqual(
    waiting.peek().map((one) => one.approval_id),
    ["new"],
  );
});
