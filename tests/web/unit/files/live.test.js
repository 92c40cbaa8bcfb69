import assert from "node:assert/strict";
import test from "node:test";

import { keepLive } from "../../../../api/web/files/list/items/live.js";
import { Listing } from "../../../../api/web/files/list/items/listing.js";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const event = { item_ids: ["a"], folder_ids: ["folder"], complete: true, mine: false };
const items = [{ id: "a", parent_id: "folder", trashed_at: null }];

/** The service: one change of a file, and whatever a look at that file is answered with. */
function serve(status) {
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  globalThis.fetch = async (path) => {
    if (path.startsWith("/api/drive/events")) {
      const frame = new TextEncoder().encode(`id: 7\nevent: change\ndata: ${JSON.stringify(event)}\n\n`);
      return new Response(new ReadableStream({ start: (stream) => stream.enqueue(frame) }));
    }
    if (path.endsWith("/children")) return Response.json({ items: status === 404 ? [] : items, total: 1 });
    return path.includes("/items/a") ? Response.json({}, { status }) : Response.json({ items: [] });
  };
}

for (const [status, left] of [
  [404, []],
  [503, ["a"]],
]) {
  test(`after a change, a file whose look-up answers ${status} ${left.length ? "stays" : "goes"}`, async () => {
    serve(status);
    const listing = new Listing("folder", "folder", null);
    listing.items.value = items;
    listing.isLoading.value = false;
    const end = keepLive(listing);
    for (let turn = 0; turn < 30; turn++) await settle();
    end();
    assert.deepEqual(
      listing.items.value.map((item) => item.id),
      left,
    );
  });
}
