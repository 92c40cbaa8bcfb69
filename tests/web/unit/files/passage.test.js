import assert from "node:assert/strict";
import test from "node:test";

import { contentAddress } from "../../../../api/web/files/preview/content.js";
import { kindOf } from "../../../../api/web/files/preview/kinds.js";
import { cut, parsePlace, passageOf } from "../../../../api/web/files/preview/passage.js";

test("offsets count characters, whatever JavaScript counts", () => {
  assert.deepEqual(cut("ab cd", 3, 5), ["ab ", "cd", ""]);
  assert.deepEqual(cut("🎉🎉 cd 好", 3, 5), ["🎉🎉 ", "cd", " 好"]);
  assert.deepEqual(cut("abc", -4, 99), ["", "abc", ""]);
});

test("a place is said as people do", () => {
  assert.deepEqual(parsePlace("page=2-3"), { kind: "page", at: "2–3", name: "" });
  assert.deepEqual(parsePlace("sheet=预算 2024!B4:D5"), { kind: "sheet", at: "B4:D5", name: "预算 2024" });
  assert.equal(parsePlace("nowhere"), null);
});

test("an address that means no passage shows the file", () => {
  assert.deepEqual(passageOf({ version: "x", start: "-1" }), { version: null, start: null, end: null, place: "" });
});

test("only an earlier version is named, as those are for editors", () => {
  assert.equal(contentAddress({ id: "a", version: 3 }, 3), "/api/drive/files/a/content?of=3");
  assert.equal(contentAddress({ id: "a", version: 3 }, 2), "/api/drive/files/a/content?version=2&of=3");
});

test("what a file is shown as", () => {
  const kinds = (name, media_type = "application/octet-stream") => kindOf({ name, media_type });
  assert.equal(kinds("README.md"), "markdown");
  assert.equal(kinds("page.html", "text/html"), "page");
  assert.equal(kinds("a.svg", "image/svg+xml"), "image");
  assert.equal(kinds("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"), "document");
  assert.equal(kinds("Makefile", "text/plain"), "code");
  assert.equal(kinds("a.bin"), "other");
});
