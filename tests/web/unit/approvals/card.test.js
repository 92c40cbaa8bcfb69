import assert from "node:assert/strict";
import { test } from "node:test";
import { clock } from "../../../../api/web/approvals/card/countdown.js";
import { foldersAbove } from "../../../../api/web/approvals/card/forms/grant_form.js";
import { partsOf } from "../../../../api/web/approvals/card/preview_parts.js";

test("a preview is its sentence, what it happens to, the difference of a text, and what else is said", () => {
  const preview = ["Change 'a.md'", "- /a.md", "Two lines change:", "@@ -1 +1 @@", "-old", "+new", "It can be undone."];
  assert.deepEqual(partsOf(preview.join("\n")), {
    sentence: "Change 'a.md'",
    items: ["/a.md"],
    diff: "@@ -1 +1 @@\n-old\n+new",
    facts: ["Two lines change:", "It can be undone."],
  });
  assert.equal(partsOf("Goes to Notes:\nCall note\nIt can't be undone.").sentence, "Goes to Notes: Call note");
  assert.deepEqual(partsOf("Only this"), { sentence: "Only this", items: [], diff: "", facts: [] });
});

test("the time is told with two digits for what is below its first", () => {
  assert.deepEqual([0, 9, 245, 3845].map(clock), ["0:00", "0:09", "4:05", "1:04:05"]);
});

test("a grant may hold for any folder above, the nearest first; a folder is its own", () => {
  assert.deepEqual(foldersAbove("/A/B/c.md", false), ["/A/B", "/A"]);
  assert.deepEqual(foldersAbove("/A/发票", true), ["/A/发票", "/A"]);
  assert.deepEqual(foldersAbove("/c.md", false), []);
});
