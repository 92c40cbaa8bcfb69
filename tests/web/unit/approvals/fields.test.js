import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, read, written } from "../../../../api/web/approvals/card/forms/fields.js";

const SCHEMA = {
  type: "object",
  required: ["item_id", "name"],
  properties: {
    item_id: { type: "string" },
    note: { anyOf: [{ type: "string" }, { type: "null" }], title: "Note", description: "For everyone." },
    name: { type: "string", minLength: 2, maxLength: 5 },
    count: { type: "integer", minimum: 1, maximum: 9 },
    role: { enum: ["viewer", "editor"] },
    tags: { type: "array", items: { type: "string" }, maxItems: 2 },
    extra: { type: "object" },
    isQuiet: { type: "boolean" },
  },
};
const MEANT = Object.fromEntries(
  ["note", "name", "count", "role", "tags", "extra", "isQuiet"].map((name) => [name, "value"]),
);
const specs = fieldsOf(SCHEMA, { name: "plan" }, MEANT);
const byName = Object.fromEntries(specs.map((spec) => [spec.name, spec]));

/** @param {Record<string, string>} values */
function form(values) {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.append(name, value);
  return data;
}

test("what a call is about is no field, what has a value comes first, and a kind follows from the schema", () => {
  assert.equal(byName.item_id, undefined);
  assert.equal(specs[0].name, "name");
  assert.deepEqual(Object.fromEntries(specs.map((spec) => [spec.name, spec.kind])), {
    name: "text",
    note: "text",
    count: "integer",
    role: "choice",
    tags: "list",
    extra: "json",
    isQuiet: "boolean",
  });
  assert.deepEqual([byName.note.label, byName.note.hint, byName.note.nullable], ["Note", "For everyone.", true]);
  assert.ok(fieldsOf(SCHEMA, {}).some((spec) => spec.name === "item_id"));
});

test("a field of the drive is offered by what a person means, and has no words of its schema", () => {
  const schema = {
    properties: {
      item_id: { type: "string" },
      if_match: { type: "string" },
      folder_id: { type: "string", description: "For models." },
      email: { type: "string" },
      edits: { type: "array", items: { type: "object" } },
    },
  };
  const before = { item_id: "i", if_match: "e", folder_id: "f", edits: [{ find: "a", replace: "b" }] };
  const meant = fieldsOf(schema, before, { folder_id: "folder", email: "person", edits: "edits" });
  assert.deepEqual(
    meant.map(({ name, kind, label, hint }) => [name, kind, label, hint]),
    [
      ["folder_id", "folder", "", ""],
      ["edits", "edits", "", ""],
      ["email", "person", "", ""],
    ],
  );
  assert.deepEqual(meant[0].barred, ["i"]);
  assert.deepEqual(read(meant, form({ folder_id: "trips", "edits.0": "c", email: "no" }), before), {
    values: { folder_id: "trips", edits: [{ find: "a", replace: "c" }] },
    complaints: { email: { code: "email" } },
  });
});

test("what was written is read as the schema has it, and what is empty is left out", () => {
  const typed = form({ name: "Plan", count: "3", role: "1", tags: " a \n\n b", extra: '{"a": 1}', note: "" });
  assert.deepEqual(read(specs, typed), {
    values: { name: "Plan", count: 3, role: "editor", tags: ["a", "b"], extra: { a: 1 }, isQuiet: false },
    complaints: {},
  });
});

test("what does not fit is complained about beside its field", () => {
  const wrong = form({ name: "", count: "1.5", role: "", tags: "a\nb\nc", extra: "{" });
  assert.deepEqual(read(specs, wrong).complaints, {
    name: { code: "required" },
    count: { code: "integer" },
    tags: { code: "most_items", value: 2 },
    extra: { code: "json" },
  });
  assert.deepEqual(read(specs, form({ name: "x", count: "10" })).complaints, {
    name: { code: "least_length", value: 2 },
    count: { code: "most_value", value: 9 },
  });
  assert.deepEqual(read(specs, form({ name: "ok", count: "many" })).complaints, { count: { code: "number" } });
});

test("a value stands in its field as people write it", () => {
  assert.equal(written(byName.tags, ["a", "b"]), "a\nb");
  assert.equal(written(byName.extra, { a: 1 }), '{\n  "a": 1\n}');
  assert.equal(written(byName.count, 0), "0");
  assert.equal(written(byName.note, null), "");
});
