// A broken server, made of the real one: pieces of an answer have an id of their own, and come behind the whole answer.
import { useStream } from "@langchain/langgraph-sdk/react";

const real = globalThis.fetch;
globalThis.fetch = async (...asked) => {
  const answer = await real(...asked);
  if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) return answer;
  return new Response(answer.body.pipeThrough(late()), { status: answer.status, headers: answer.headers });
};

/** Hold pieces back until the whole answer has gone out. */
function late() {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let rest = "";
  let pieces = [];
  return new TransformStream({
    transform(bytes, out) {
      const frames = (rest + decoder.decode(bytes, { stream: true })).split(/(?<=\n\n)/);
      rest = frames.at(-1).endsWith("\n\n") ? "" : frames.pop();
      for (const frame of frames) {
        if (frame.includes("event: messages")) {
          pieces.push(frame.replace(/"id":\s*"/, '$&other-'));
          continue;
        }
        out.enqueue(encoder.encode(frame));
        if (frame.includes("event: values") && frame.includes("You said one")) {
          out.enqueue(encoder.encode(pieces.join("")));
          pieces = [];
        }
      }
    },
  });
}

const page = await mount(useStream, { ...service, messagesKey: "messages" });
page.now.submit(human("one"));
await page.until(() => page.doubled.length);
finish({ doubled: page.doubled[0] });
