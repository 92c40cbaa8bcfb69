import assert from "node:assert/strict";
import test from "node:test";

import { decode, encode } from "../../../../api/web/files/preview/encoding.js";
import { indent, positionOf } from "../../../../api/web/files/editor/typing.js";

test("line ends and the mark at the beginning stay as they were", () => {
  const bytes = new TextEncoder().encode("\ufeffa\r\nb\r\n");
  const stored = decode(bytes);
  assert.equal(stored.text, "a\nb\n");
  assert.deepEqual(encode(stored.text, stored), bytes);
});

test("a text in another encoding is read, and said to be so", () => {
  const stored = decode(new Uint8Array([0xc4, 0xe3, 0xba, 0xc3]));
  assert.deepEqual([stored.text, stored.isUtf8], ["你好", false]);
});

test("a position counts letters as people see them", () => {
  assert.deepEqual(positionOf("ab\n🎉c", 6), { line: 2, column: 3 });
});

test("lines go in and out", () => {
  assert.deepEqual(indent("ab", 1, 1, false), { from: 1, to: 1, words: "  ", start: 3, end: 3 });
  assert.equal(indent("a\nb\nc", 0, 3, false).words, "  a\n  b");
  assert.deepEqual(indent("  a\n\tb", 0, 6, true), { from: 0, to: 6, words: "a\nb", start: 0, end: 3 });
});
