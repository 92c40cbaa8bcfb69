// Hooks of React outside a browser: each is mounted in a page of its own, which is drawn into nothing.
globalThis.window = globalThis; // the hooks keep their place in its session storage
const { default: React } = await import("react");
const complain = console.error;
console.error = (...said) => String(said[0]).includes("react-test-renderer is deprecated") || complain(...said);
const { create } = await import("react-test-renderer");
const [apiUrl, apiKey, fileId] = process.argv.slice(1);
const SECONDS = 20;
const service = { apiUrl, apiKey, assistantId: "drive_agent" };

/**
 * Mount a hook. `now` is what it returned last; `until` waits for a render of which something is true. `doubled` are
 * the renders that showed a message twice.
 */
async function mount(hook, options) {
  const waiting = new Set();
  const page = {
    doubled: [],
    until: (is) =>
      new Promise((resolve, reject) => {
        const end = (settle, result) => {
          clearTimeout(timer);
          waiting.delete(look);
          settle(result);
        };
        const look = () => page.now && is(page.now) && end(resolve, page.now);
        const timer = setTimeout(() => end(reject, new Error(`never ${is}: ${shown(page.now)}`)), SECONDS * 1000);
        waiting.add(look);
        look();
      }),
    close: () => root.unmount(),
  };
  function Page() {
    page.now = hook(options);
    if (isDoubled(page.now)) page.doubled.push(said(page.now));
    React.useEffect(() => waiting.forEach((look) => look()));
    return null;
  }
  const root = create(React.createElement(Page));
  await page.until(() => true);
  return page;
}

const shown = (stream) =>
  JSON.stringify({ said: said(stream).slice(-4), error: String(stream.error), loads: stream.isLoading, asks: stream.interrupt?.id });

/** Say whether a message is there twice: by its id, or as an answer whose words stand in the one above it already. */
function isDoubled(stream) {
  const words = said(stream);
  const repeats = ([kind, text], at) => kind === "ai" && text && words[at - 1]?.[0] === "ai" && words[at - 1][1].startsWith(text);
  return new Set(stream.messages.map((message) => message.id)).size < stream.messages.length || words.some(repeats);
}

/** Return the messages of a stream as kinds and words. */
function said(stream) {
  const words = (content) => (typeof content === "string" ? content : content.map((block) => block.text).join(""));
  return stream.messages.map((message) => [message.type, words(message.content)]);
}

// A person changes a link so that it lasts five hours; pages send back what was typed, as text.
const lent = { item_id: fileId, expires_in_hours: "5" };
const human = (text) => ({ messages: [{ type: "human", content: text }] });
const last = (stream) => said(stream).at(-1) ?? ["", ""];
const answers = (start) => (stream) =>
  !stream.isLoading && !stream.interrupt && last(stream)[0] === "ai" && last(stream)[1].startsWith(start);
const asks = (stream) => !stream.isLoading && stream.interrupt;
const command = (tool, args) => `${tool} ${JSON.stringify(args)}`;
const edited = (name, args) => ({ type: "edit", edited_action: { name, args } });
const finish = (told) => {
  console.log(JSON.stringify(told));
  process.exit(0);
};
