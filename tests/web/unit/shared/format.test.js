import assert from "node:assert/strict";
import test from "node:test";

import { compareNames, shortDate, size } from "../../../../api/web/shared/texts/format.js";
import { language } from "../../../../api/web/shared/texts/language.js";

test("sizes are written in units that people use", () => {
  language.value = "en";
  assert.deepEqual([0, 1, 999, 1500, 12_345_678].map(size), ["0 bytes", "1 byte", "999 bytes", "1.5 kB", "12.3 MB"]);
  assert.equal(size(null), "");
});

test("Chinese names are sorted by pinyin, numbers by value", () => {
  language.value = "zh";
  assert.deepEqual(["张三", "李四", "阿明"].sort(compareNames), ["阿明", "李四", "张三"]);
  assert.deepEqual(["10.txt", "9.txt"].sort(compareNames), ["9.txt", "10.txt"]);
  language.value = "en";
});

test("a date of today is its time, one of another year has the year", () => {
  const now = new Date("2026-05-05T15:00:00");
  assert.match(shortDate(new Date("2026-05-05T09:30:00"), now), /9:30/);
  assert.match(shortDate(new Date("2024-01-02T09:30:00"), now), /2024/);
});
