// The story of a chat by `useStream` of @langchain/langgraph-sdk: LangGraph's first protocol.
import { useStream } from "@langchain/langgraph-sdk/react";

const told = {};
const kept = new Map();
const storage = { getItem: (key) => kept.get(key) ?? null, setItem: kept.set.bind(kept), removeItem: kept.delete.bind(kept) };
const options = { ...service, messagesKey: "messages", fetchStateHistory: true, reconnectOnMount: () => storage };
let threadId;
const page = await mount(useStream, { ...options, onThreadId: (id) => (threadId = id) });
const say = async (text, more) => {
  page.now.submit(human(text), more);
  return page.until((stream) => stream.isLoading);
};
const meta = (index) => page.now.getMessagesMetadata(page.now.messages.at(index));
const fork = async (index, input) => {
  page.now.submit(input, { checkpoint: meta(index).firstSeenState.parent_checkpoint });
  return page.until((stream) => stream.isLoading);
};

await say("one");
await page.until(answers("You said one"));
await fork(0, human("uno"));
await page.until(answers("You said uno"));
const { branch, branchOptions } = meta(0);
told.branches = [branchOptions.length, branchOptions.indexOf(branch)];
page.now.setBranch(branchOptions[0]);
told.branch = said(await page.until((stream) => said(stream)[0][1] === "one"));
page.now.setBranch(branchOptions[1]);
await page.until((stream) => said(stream)[0][1] === "uno");
await say("two");
await page.until(answers("You said two"));
await fork(-1);
told.anew = said(await page.until(answers("You said two")));
await fork(0, human("first"));
told.earlier = said(await page.until((stream) => answers("You said first")(stream) && stream.messages.length === 2));

for (const [name, order, decision] of [
  ["reject", command("trash_item", { item_id: "/a.txt" }), { type: "reject", message: "I need it" }],
  ["edit", command("create_share_link", { item_id: fileId }), edited("create_share_link", lent)],
  ["approve", command("trash_item", { item_id: "/b.txt" }), { type: "approve" }],
]) {
  await say(order);
  await page.until(asks);
  const again = await mount(useStream, { ...options, threadId });
  told[`asks again to ${name}`] = (await again.until(asks)).interrupt.value.action_requests[0].name;
  again.close();
  page.now.submit({}, { command: { resume: { decisions: [decision] } } });
  await page.until((stream) => stream.isLoading);
  told[name] = last(await page.until(answers("Done:")))[1];
}

console.log("do: hold");
await say("hear the held rest", { streamResumable: true });
await page.until((stream) => last(stream)[1].startsWith("You said hear the"));
const joined = await mount(useStream, { ...options, threadId });
told.joined = last(await joined.until((stream) => stream.isLoading && last(stream)[1].startsWith("You said hear the")));
console.log("do: release");
told.ends = [last(await joined.until(answers("You said hear the held rest"))), last(await page.until(answers("You said")))];

console.log("do: hold");
await say("stop at the held rest");
await page.until((stream) => last(stream)[1].startsWith("You said stop at"));
await page.now.stop();
await say("and on");
told.stopped = said(await page.until((stream) => !stream.isLoading && last(stream)[1].endsWith("and on"))).slice(-4);
told.error = String(page.now.error);
told.doubled = page.doubled;
finish(told);
