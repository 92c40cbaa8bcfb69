import assert from "node:assert/strict";
import test from "node:test";

import { parsePlace } from "../../../../api/web/shared/location.js";

test("without a place it is the person's own folder", () => {
  assert.deepEqual(parsePlace(""), { path: ["folder", "root"], query: {} });
});

test("a place has its path and its query, unescaped", () => {
  assert.deepEqual(parsePlace("#/file/a%2Fb?thread=t1&start=5"), {
    path: ["file", "a/b"],
    query: { thread: "t1", start: "5" },
  });
});
