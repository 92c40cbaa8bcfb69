// The story of a program by the client of @langchain/langgraph-sdk, in both protocols.
import { Client } from "@langchain/langgraph-sdk";

const [apiUrl, apiKey, fileId] = process.argv.slice(1);
const client = new Client({ apiUrl, apiKey });
const told = {};
const human = (text) => ({ messages: [{ type: "human", content: text }] });
const lend = human(`create_share_link ${JSON.stringify({ item_id: fileId })}`);
const collect = async (parts) => {
  const found = [];
  for await (const part of parts) found.push(part);
  return found;
};
const words = (parts) => parts.filter((part) => part.event === "messages").map((part) => part.data[0].content);

const { thread_id } = await client.threads.create({ metadata: { by: "node" } });
const streamMode = ["messages-tuple", "values", "updates", "custom"];
const parts = await collect(client.runs.stream(thread_id, "drive_agent", { input: human("hello there"), streamMode }));
told.words = words(parts).join("");
told.events = [...new Set(parts.map((part) => part.event))].sort();
const found = await client.threads.search({ metadata: { by: "node", graph_id: "drive_agent" } });
told.found = found.map((one) => one.thread_id === thread_id);

const asked = await client.runs.wait(thread_id, "drive_agent", { input: lend });
told.asked = asked.__interrupt__[0].value.action_requests[0].name;
told.status = (await client.threads.get(thread_id)).status;
const edited = (name, args) => ({ command: { resume: { decisions: [{ type: "edit", edited_action: { name, args } }] } } });
try {
  await client.runs.wait(thread_id, "drive_agent", edited("list_folder", {}));
} catch (error) {
  told.foreign = error.status;
}
const lent = { item_id: fileId, expires_in_hours: "5" };
const done = await client.runs.wait(thread_id, "drive_agent", edited("create_share_link", lent));
told.done = done.messages.at(-1).content;

console.log("do: hold");
const run = await client.runs.create(thread_id, "drive_agent", { input: human("hear the held rest"), streamResumable: true });
const joined = client.runs.joinStream(thread_id, run.run_id, { streamMode: ["messages-tuple", "values"] });
let heard = "";
for await (const part of joined) {
  if (part.event !== "messages") continue;
  if (!heard) console.log("do: release");
  heard += part.data[0].content;
}
told.heard = heard;

console.log("do: hold");
const stopping = await client.runs.create(thread_id, "drive_agent", { input: human("stop at the held rest") });
await client.runs.cancel(thread_id, stopping.run_id, true);
told.stopped = (await client.runs.get(thread_id, stopping.run_id)).status;
console.log("do: release");

const thread = client.threads.stream({ assistantId: "drive_agent" });
await thread.run.start({ input: human("by commands") });
told.streamed = [];
for await (const message of thread.messages) told.streamed.push(await message.text);
told.output = (await thread.output).messages.at(-1).content;
await thread.close();
console.log(JSON.stringify(told));
process.exit(0);
