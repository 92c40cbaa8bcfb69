import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../../../api/web/shared/api/problem.js";
import { PROGRAMS, wantsEncryption } from "../../../../api/web/settings/connect/snippets.js";
import { complaints } from "../../../../api/web/settings/form/complaints.js";
import { isInUse } from "../../../../api/web/settings/keys/in_use.js";
import { quotaBytes } from "../../../../api/web/settings/people/quota.js";
import { secretRows, secretsOf, serverChange } from "../../../../api/web/settings/servers/change.js";

test("each field has its own complaint in the person's language, and what no field has stays", () => {
  const errors = [{ where: "body.name", problem: "too short" }];
  const detail = "body.name: 太短。";
  const one = complaints(new Problem(422, { detail, details: { errors } }), ["name"]);
  assert.deepEqual(one, { fields: { name: "太短" }, isComplete: true });
  const two = [...errors, { where: "body.headers", problem: "not names" }];
  const other = complaints(
    new Problem(422, { detail: "body.name: 太短；body.headers: 无效。", details: { errors: two } }),
    ["name"],
  );
  assert.deepEqual(other, { fields: { name: "太短" }, isComplete: false });
  assert.equal(complaints(new Problem(409, {}), ["name"]).isComplete, false);
});

test("a value that was set is kept unless another is typed, and one without a name is not sent", () => {
  const [kept, replaced] = secretRows({ "X-Key": true, "X-Other": true });
  const rows = [kept, { ...replaced, value: "new" }, { key: 9, name: " ", value: "lost", isSet: false }];
  assert.deepEqual(secretsOf(rows), { "X-Key": true, "X-Other": "new" });
  assert.deepEqual(secretsOf([{ key: 9, name: "X-New", value: "", isSet: false }]), { "X-New": null });
});

test("a program is sent with its arguments line by line, and no address", () => {
  const typed = { name: " Time ", type: "stdio", isActive: true, timeout: "", address: "x", allows: [] };
  const change = serverChange({ ...typed, command: "uvx", args: "mcp-server-time\n\n --utc " }, []);
  assert.deepEqual(change, {
    name: "Time",
    type: "stdio",
    is_active: true,
    timeout: 60,
    allows: [],
    command: "uvx",
    args: ["mcp-server-time", "--utc"],
    env: {},
  });
});

test("every program is told the address or the key, and what is JSON can be read", () => {
  for (const { id, snippet } of PROGRAMS) {
    const words = snippet("https://drive.example.com", "dak_1");
    assert.match(words, /drive\.example\.com|dak_1/, id);
    if (words.startsWith("{")) JSON.parse(words);
  }
  assert.equal(wantsEncryption("windows", "http://127.0.0.1:8000"), true);
  assert.equal(wantsEncryption("windows", "https://drive.example.com"), false);
});

test("a key is in use until it is revoked or ends", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  assert.equal(isInUse({ revoked_at: null, expires_at: null }, now), true);
  assert.equal(isInUse({ revoked_at: null, expires_at: "2025-12-31T00:00:00Z" }, now), false);
  assert.equal(isInUse({ revoked_at: "2025-12-31T00:00:00Z", expires_at: null }, now), false);
});

test("a quota is in gigabytes, nothing is that of the service, and 0 is no limit", () => {
  assert.equal(quotaBytes("1.5"), 1_500_000_000);
  assert.equal(quotaBytes(" "), null);
  assert.equal(quotaBytes("0"), 0);
});
