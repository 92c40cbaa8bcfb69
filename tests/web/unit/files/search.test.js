import assert from "node:assert/strict";
import { test } from "node:test";

import { termsOf } from "../../../../api/web/files/sharing/terms.js";
import { marked } from "../../../../api/web/files/search/marks.js";
import { onceEach } from "../../../../api/web/files/search/once_each.js";
import { parametersOf } from "../../../../api/web/files/search/parameters.js";
import { withWords } from "../../../../api/web/files/search/recent.js";

test("words are marked wherever they stand, the signs of patterns among them as they are", () => {
  assert.deepEqual(marked("A (b) and B", "b (b)"), [
    { part: "A ", isHit: false },
    { part: "(b)", isHit: true },
    { part: " and ", isHit: false },
    { part: "B", isHit: true },
  ]);
  assert.deepEqual(marked("plain", " "), [{ part: "plain", isHit: false }]);
});

test("a time is asked for in whole minutes, and own dates only when they are chosen", () => {
  const now = new Date("2026-03-08T10:00:30Z");
  assert.equal(parametersOf({ q: " a ", within: "week" }, now).modified_after, "2026-03-01T10:00:00.000Z");
  assert.equal(parametersOf({ q: "a", after: "2026-01-01" }, now).modified_after, undefined);
  assert.ok(parametersOf({ q: "a", within: "own", after: "2026-01-01" }, now).modified_after);
});

test("a file found by name and by passage is shown by its passage", () => {
  const named = { file: { id: "a" }, start: 0, end: 0 };
  const passage = { file: { id: "a" }, start: 3, end: 9 };
  const other = { file: { id: "b" }, start: 0, end: 0 };
  assert.deepEqual(onceEach([named, passage, other]), [passage, other]);
});

test("words searched for again come first, and stand there once", () => {
  assert.deepEqual(withWords(["a", "b"], " b "), ["b", "a"]);
  assert.deepEqual(withWords(["a"], " "), ["a"]);
});

test("what is left empty is no term of a link", () => {
  assert.deepEqual(termsOf({ role: "viewer", days: "", password: "", limit: "" }), { role: "viewer" });
  assert.deepEqual(termsOf({ role: "editor", days: "7", password: "x", limit: "3" }), {
    role: "editor",
    expires_in_hours: 168,
    password: "x",
    max_downloads: 3,
  });
});
