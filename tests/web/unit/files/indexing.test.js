import assert from "node:assert/strict";
import test, { mock } from "node:test";

import { watchIndexing } from "../../../../api/web/files/list/items/indexing.js";

const MINUTE = 24;

/** Follow one item for some looks, each 2.5 s. Returns the looks at which the service was asked, and what was taken. */
async function follow(shown, answered, looks) {
  mock.timers.enable({ apis: ["setInterval"] });
  globalThis.document = /** @type {any} */ ({ hidden: false });
  const asked = [];
  const taken = [];
  let look = 0;
  globalThis.fetch = /** @type {any} */ (
    async () => {
      asked.push(look);
      return Response.json({ id: "a", index_state: answered(look) });
    }
  );
  let item = { id: "a", index_state: shown };
  const end = watchIndexing(
    () => [/** @type {any} */ (item)],
    ([moved]) => {
      taken.push(moved.index_state);
      item = moved;
    },
  );
  for (look = 1; look <= looks; look++) {
    mock.timers.tick(2500);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  end();
  mock.timers.reset();
  return { asked, taken };
}

test("a file that is being read is asked for at each look until it is read", async () => {
  const { asked, taken } = await follow("pending", (look) => (look < 4 ? "pending" : "ready"), 10);
  assert.deepEqual(asked, [1, 2, 3, 4]);
  assert.deepEqual(taken, ["ready"]);
});

test("a scan is asked for less and less often, and shown as read when it is", async () => {
  const { asked, taken } = await follow("needs_ocr", (look) => (look < 30 ? "needs_ocr" : "ready"), 120);
  assert.deepEqual(asked, [1, 3, 7, 15, 31]);
  assert.deepEqual(taken, ["ready"]);
});

test("a scan that nobody reads costs a question a minute", async () => {
  const { asked, taken } = await follow("needs_ocr", () => "needs_ocr", 200);
  assert.equal(asked.at(-1) - asked.at(-2), MINUTE);
  assert.deepEqual(taken, []);
});

test("a file that needs a password, or is read, is not asked for", async () => {
  for (const state of ["ready", "needs_password", "failed", "unsupported", null]) {
    assert.deepEqual((await follow(state, () => state, 5)).asked, []);
  }
});
