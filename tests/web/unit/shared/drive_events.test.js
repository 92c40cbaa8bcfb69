import assert from "node:assert/strict";
import test from "node:test";

import { onDriveChange } from "../../../../api/web/shared/drive_events.js";

test("whoever listens lists again when the stream begins, once, for nothing tells of what changed before", async () => {
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  globalThis.addEventListener ??= () => undefined;
  globalThis.removeEventListener ??= () => undefined;
  let asked = 0;
  const heard = [];
  await new Promise((resolve) => {
    globalThis.fetch = async () => {
      asked += 1;
      if (asked < 3) return new Response('id: 5\nevent: change\ndata: {"id":"5"}\n\n');
      resolve(undefined);
      return new Response(null, { status: 204 });
    };
    onDriveChange((change) => heard.push(change.type));
  });
  assert.deepEqual(heard, ["reset", "change", "change"]);
});
