import assert from "node:assert/strict";
import test from "node:test";

import { follow, takeFrames } from "../../../../api/web/shared/api/event_stream.js";

/** @param {string[]} pieces */
function read(pieces) {
  const events = [];
  const ids = [];
  let rest = "";
  for (const piece of pieces) {
    rest = takeFrames(
      rest + piece,
      (event) => events.push(event),
      (id) => ids.push(id),
    );
  }
  return { events, ids, rest };
}

test("events are read however their bytes are cut", () => {
  const whole = 'id: 1\nevent: content\ndata: {"text":"你好"}\n\nid: 2\nevent: done\ndata: {}\n\n';
  const expected = [
    { id: "1", type: "content", data: { text: "你好" } },
    { id: "2", type: "done", data: {} },
  ];
  for (let cut = 0; cut <= whole.length; cut++) {
    assert.deepEqual(read([whole.slice(0, cut), whole.slice(cut)]).events, expected);
  }
});

test("a heartbeat is no event", () => {
  assert.deepEqual(read([": still here\n\n"]).events, []);
});

test("an id without an event says where to go on", () => {
  const { events, ids } = read([": heartbeat\nid: 42\n\n"]);
  assert.deepEqual({ events, ids }, { events: [], ids: ["42"] });
});

test("what is not whole waits", () => {
  assert.equal(read(["id: 7\ndata: {"]).rest, "id: 7\ndata: {");
});

test("a stream that breaks before any event goes on from the id that it began with", async () => {
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  globalThis.addEventListener ??= () => undefined;
  globalThis.removeEventListener ??= () => undefined;
  const asked = [];
  globalThis.fetch = async (path, { headers }) => {
    asked.push(new Headers(headers).get("last-event-id"));
    return asked.length === 1 ? new Response("id: 41\n\n") : new Response(null, { status: 204 });
  };
  await follow("/api/drive/events", {
    abort: new AbortController().signal,
    onEvent: () => assert.fail("no event came"),
  });
  assert.deepEqual(asked, [null, "41"]);
});
