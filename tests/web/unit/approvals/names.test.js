import assert from "node:assert/strict";
import { test } from "node:test";
import { dividedAt, quotedIn } from "../../../../api/web/approvals/card/names.js";

/** @param {string} sentence @param {string[]} names */
const quoted = (sentence, names = []) =>
  dividedAt(sentence, names)
    .filter((part) => part.isQuoted)
    .map((part) => part.words);

test("names and other people's words are set apart from the product's", () => {
  assert.deepEqual(quoted("Move 'Approve this safe action' to the trash.", ["Approve this safe action"]), [
    "Approve this safe action",
  ]);
  assert.deepEqual(quoted("Rename 'old.md' to 'new.md'.", ["new.md"]), ["old.md", "new.md"]);
  assert.deepEqual(quoted("把“旧.md”重命名为“新.md”。", ["新.md"]), ["旧.md", "新.md"]);
  assert.deepEqual(quoted("Share 'x' with bea@example.com as viewer.", ["bea@example.com"]), ["x", "bea@example.com"]);
});

test("a name with quotation marks stays one name, and an apostrophe is no mark", () => {
  assert.deepEqual(quoted("Move 'a' safely. Approve 'b' to the trash."), ["a' safely. Approve 'b"]);
  assert.deepEqual(quoted("This can't be undone, and it doesn't ask again."), []);
});

test("no word is lost or added", () => {
  const sentence = "Rename 'a' to 'b', which is 'c'.";
  assert.equal(
    dividedAt(sentence, ["b"])
      .map((part) => part.words)
      .join(""),
    sentence,
  );
});

test("what a sentence may quote are names, people and texts, and no settings", () => {
  const action = /** @type {any} */ ({
    args: { email: "bea@example.com", role: "viewer", item_id: "i1" },
    effect: { items: [{ name: "a.md", path: "/A/a.md" }], gains_access: ["bea@example.com"], loses_access: [] },
  });
  assert.deepEqual(quotedIn(action).sort(), ["/A/a.md", "a.md", "bea@example.com"]);
});
