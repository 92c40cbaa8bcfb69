import assert from "node:assert/strict";
import test from "node:test";

import { diffTexts, parseDiff } from "../../../../api/web/shared/components/diff_lines.js";

const shown = (lines) =>
  lines.map(
    ({ kind, before, after, text }) =>
      `${{ same: " ", added: "+", removed: "-", gap: "~" }[kind]}${before ?? ""}/${after ?? ""} ${text}`,
  );

test("a unified diff becomes lines with their numbers", () => {
  const diff =
    "--- a\n+++ b\n@@ -2,3 +2,3 @@\n one\n-two\n+zwei\n three\n@@ -9 +9,2 @@\n nine\n+ten\n\\ No newline at end of file\n";
  assert.deepEqual(shown(parseDiff(diff)), [
    "~/ ",
    " 2/2 one",
    "-3/ two",
    "+/3 zwei",
    " 4/4 three",
    "~/ ",
    " 9/9 nine",
    "+/10 ten",
  ]);
  assert.deepEqual(parseDiff(""), []);
});

test("a line that begins as the head of a diff does is a line", () => {
  assert.deepEqual(shown(parseDiff("--- a\n+++ b\n@@ -1 +1 @@\n--- x\n+++ y\n")), ["-1/ -- x", "+/1 ++ y"]);
});

test("two texts are compared, with what is around each difference", () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  const after = before.map((line) => (line === "line 10" ? "line ten" : line));
  const lines = diffTexts(before.join("\n"), after.join("\n"));
  assert.deepEqual(shown(lines), [
    "~/ ",
    " 7/7 line 7",
    " 8/8 line 8",
    " 9/9 line 9",
    "-10/ line 10",
    "+/10 line ten",
    " 11/11 line 11",
    " 12/12 line 12",
    " 13/13 line 13",
    "~/ ",
  ]);
  assert.deepEqual(lines[4].changed, [5, 7]);
  assert.deepEqual(diffTexts("a\nb", "a\nb"), []);
});

test("whatever two texts are, the lines give both back", () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  for (let round = 0; round < 200; round += 1) {
    const make = () => Array.from({ length: random(9) + 1 }, () => "abc"[random(3)]);
    const [before, after] = [make(), make()];
    const lines = diffTexts(before.join("\n"), after.join("\n"));
    const old = [...before];
    const now = [...after];
    for (const line of lines) {
      if (line.before) assert.equal(old[line.before - 1], line.text);
      if (line.after) assert.equal(now[line.after - 1], line.text);
    }
    const removed = new Set(lines.filter((line) => line.kind === "removed").map((line) => line.before - 1));
    const added = new Set(lines.filter((line) => line.kind === "added").map((line) => line.after - 1));
    assert.deepEqual(
      old.filter((_, index) => !removed.has(index)),
      now.filter((_, index) => !added.has(index)),
    );
  }
});
