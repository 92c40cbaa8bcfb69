import assert from "node:assert/strict";
import test from "node:test";

import { parseTable, separatorOf } from "../../../../api/web/files/preview/views/csv.js";

test("values have separators, line ends and marks in them if they are quoted", () => {
  const text = '\ufeffname,said\r\n"Li, Wei","a ""b""\nc"\r\n张三,\r\n';
  assert.deepEqual(parseTable(text), [
    ["name", "said"],
    ["Li, Wei", 'a "b"\nc'],
    ["张三", ""],
  ]);
});

test("a table without an end, or with a mark that is never closed, is shown all the same", () => {
  assert.deepEqual(parseTable("a,b\n1,"), [
    ["a", "b"],
    ["1", ""],
  ]);
  assert.deepEqual(parseTable('a\n"open'), [["a"], ["open"]]);
  assert.deepEqual(parseTable(""), []);
});

test("what the first line has most of is what separates", () => {
  assert.equal(separatorOf("a;b;c\n1,2;3"), ";");
  assert.equal(separatorOf("a\tb"), "\t");
  assert.equal(separatorOf('"a;b;c",d'), ",");
});
