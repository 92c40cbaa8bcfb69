import assert from "node:assert/strict";
import test from "node:test";

import { windowOf } from "../../../../api/web/shared/components/virtual_list.js";

test("of many rows only those in view are drawn, with a few around them", () => {
  const part = windowOf(50_000, 40, 40_000, 800);
  assert.equal(part.whole, 2_000_000);
  assert.ok(part.start <= 1000 && part.end >= 1020);
  assert.ok(part.end - part.start < 60);
});

test("cells of a grid are drawn in whole lines", () => {
  assert.deepEqual(windowOf(10, 100, 0, 200, 3), { start: 0, end: 10, offset: 0, whole: 400 });
});
