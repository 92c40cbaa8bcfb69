// The story of chats by `useStream` of @langchain/react: LangGraph's second protocol.
import { useMessageMetadata, useStream } from "@langchain/react";

const told = {};
const withPlaces = (options) => {
  const stream = useStream(options);
  return { ...stream, place: useMessageMetadata(stream, stream.messages.at(-2)?.id) };
};
const open = (threadId) => mount(withPlaces, { ...service, ...(threadId && { threadId }) });

const page = await open();
await page.now.submit(human("one"));
await page.until(answers("You said one"));
await page.now.submit(human("two"));
await page.until(answers("You said two"));
await page.now.submit(human("deux"), { forkFrom: page.now.place.parentCheckpointId });
told.edited = said(await page.until(answers("You said deux")));
const states = await page.now.client.threads.getHistory(page.now.threadId, { limit: 100 });
const begin = states.filter((state) => state.values.messages?.length).at(-1).parent_checkpoint.checkpoint_id;
await page.now.submit(human("first"), { forkFrom: begin });
told.earlier = said(await page.until((stream) => answers("You said first")(stream) && stream.messages.length === 2));
page.close();

for (const [name, order, decision] of [
  ["reject", command("trash_item", { item_id: "/a.txt" }), { type: "reject", message: "I need it" }],
  ["edit", command("create_share_link", { item_id: fileId }), edited("create_share_link", lent)],
  ["approve", command("trash_item", { item_id: "/b.txt" }), { type: "approve" }],
]) {
  const asking = await open();
  await asking.now.submit(human(order));
  const { interrupt, threadId } = await asking.until(asks);
  const again = await open(threadId);
  told[`asks again to ${name}`] = (await again.until((stream) => stream.interrupt)).interrupt.id === interrupt.id;
  again.close();
  await asking.now.respond({ decisions: [decision] });
  const done = await asking.until(answers("Done:"));
  told[name] = [last(done)[1], done.interrupts.length, done.toolCalls.map((call) => call.status)];
  asking.close();
}

const moving = await open();
await moving.now.submit(human(command("trash_item", { item_id: "/stays.txt" })));
await moving.until(asks);
await moving.now.submit(human("never mind"));
const moved = await moving.until((stream) => last(stream)[0] === "ai" && last(stream)[1].endsWith("never mind"));
const { tasks } = await moved.client.threads.getState(moved.threadId);
told.moved = [tasks.length, String(moved.error)];
moving.close();

console.log("do: hold");
const held = await open();
const going = held.now.submit(human("hear the held rest"));
await held.until((stream) => last(stream)[1].startsWith("You said hear the"));
const joined = await open(held.now.threadId);
told.joined = last(await joined.until((stream) => stream.isLoading && last(stream)[1].startsWith("You said hear the")));
console.log("do: release");
await going;
told.ends = [last(await joined.until(answers("You said hear the held rest"))), last(held.now)];
joined.close();
held.close();

console.log("do: hold");
const stopping = await open();
stopping.now.submit(human("stop at the held rest"));
await stopping.until((stream) => last(stream)[1].startsWith("You said stop at"));
await stopping.now.stop();
told.stopped = [last(await stopping.until((stream) => !stream.isLoading))[1], String(stopping.now.error)];
finish(told);
