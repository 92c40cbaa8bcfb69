import assert from "node:assert/strict";
import { test } from "node:test";

import { ranked } from "../../../../api/web/app/palette/ranking.js";

const commands = ["Undo", "New folder", "Show the trash"].map((title) => ({ id: title, title }));
const titles = (/** @type {string} */ words, /** @type {string[]} */ used = []) =>
  ranked(words, commands, used).map((one) => one.title);

test("the beginning of a title fits best, then that of a word, then letters in their order", () => {
  assert.deepEqual(titles("fo"), ["New folder"]);
  assert.deepEqual(titles("nfd"), ["New folder"]);
  assert.deepEqual(titles("xyz"), []);
});

test("without words what was used last comes first", () => {
  assert.equal(titles("", ["Show the trash"])[0], "Show the trash");
});
