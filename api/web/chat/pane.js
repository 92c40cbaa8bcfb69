/** The conversation. */

import { place } from "../shared/location.js";
import { useCommands } from "../shared/commands.js";
import { Failure, Loading } from "../shared/components/states.js";
import { html, useEffect, useState } from "../shared/preact.js";
import { loadTexts, text } from "../shared/texts/texts.js";
import { Composer } from "./composer/composer.js";
import { failure, reload, show, state, turns } from "./conversation/conversation.js";
import { ChatHeader } from "./header.js";
import { Welcome } from "./welcome.js";
import { Lazy } from "../shared/components/lazy.js";
import { focusComposer } from "./composer/focus.js";
import { newConversation, useNewConversationKey } from "./new_conversation.js";

await loadTexts(import.meta.url);

const loadTranscript = () => import("./transcript/transcript.js").then((module) => module.Transcript);
const loadThreads = () => import("./threads/threads.js").then((module) => module.Threads);

/** What stands on the side of the assistant. */
export function ChatPane() {
  const [listed, setListed] = useState(false);
  const threadId = place.value.query.thread ?? null;
  useEffect(() => {
    void show(threadId);
  }, [threadId]);
  useNewConversationKey();
  useCommands(() => [
    { id: "chat.new", title: text("chat.new"), icon: "plus", keys: "Ctrl+Shift+O", run: newConversation },
    { id: "chat.threads", title: text("chat.threads"), icon: "history", run: () => setListed(true) },
    { id: "chat.focus", title: text("chat.ask"), icon: "chat", run: focusComposer },
  ]);
  // Drawing answers takes most of what the conversation loads: it comes when the person turns to it.
  return html`<div class="chat" onFocusIn=${() => void loadTranscript().catch(() => undefined)}>
    <${ChatHeader} isListed=${listed} onList=${() => setListed(!listed)} />
    ${
      listed
        ? html`<${Lazy} load=${loadThreads} onClose=${() => setListed(false)} />`
        : html`<${Body} /> <${Composer} threadId=${threadId} />`
    }
  </div>`;
}

function Body() {
  if (state.value === "loading") return html`<div class="chat-body"><${Loading} /></div>`;
  if (state.value === "failed")
    return html`<div class="chat-body"><${Failure} error=${failure.value} onRetry=${reload} /></div>`;
  return turns.value.length ? html`<${Lazy} load=${loadTranscript} />` : html`<${Welcome} />`;
}
