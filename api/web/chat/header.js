/** The line above the conversation: its title, and what can be done with it. */

import { IconButton } from "../shared/components/button.js";
import { openMenu } from "../shared/components/menus.js";
import { go } from "../shared/location.js";
import { html } from "../shared/preact.js";
import { printSide } from "../shared/printing.js";
import { text } from "../shared/texts/texts.js";
import { thread } from "./conversation/conversation.js";
import { newConversation } from "./new_conversation.js";

/** @param {{isListed: boolean, onList: () => void}} properties */
export function ChatHeader({ isListed, onList }) {
  const { title = "" } = thread.value ?? {};
  const show = (/** @type {MouseEvent} */ event) =>
    openMenu(/** @type {Element} */ (event.currentTarget), items(), text("chat.menu"));
  return html`<header class="chat-header">
    <${IconButton} icon="history" label=${text("chat.threads")} aria-expanded=${isListed} onClick=${onList} />
    <h2>${isListed ? text("chat.threads") : title || text("chat.new")}</h2>
    <${IconButton}
      icon="plus"
      label=${text("chat.new")}
      aria-keyshortcuts="Control+Shift+O"
      onClick=${newConversation}
    />
    <${IconButton} icon="more" label=${text("chat.menu")} aria-haspopup="menu" onClick=${show} />
  </header>`;
}

function items() {
  const shown = thread.peek();
  const ofThread = shown
    ? [
        { title: text("chat.rename"), icon: "edit", run: () => withActions((actions) => actions.rename(shown)) },
        {
          title: text("chat.export.markdown"),
          icon: "download",
          run: () => withActions((actions) => actions.exportThread(shown, "markdown")),
        },
        {
          title: text("chat.export.json"),
          icon: "download",
          run: () => withActions((actions) => actions.exportThread(shown, "json")),
        },
        { title: text("chat.print"), icon: "print", run: () => printSide("chat") },
        {
          title: text("chat.delete"),
          icon: "trash",
          danger: true,
          run: () => withActions((actions) => actions.removeThread(shown)),
        },
        {},
      ]
    : [];
  return [...ofThread, { title: text("chat.memory"), icon: "memory", run: openMemory }];
}

/** @param {(actions: typeof import("./threads/actions.js")) => void} use */
const withActions = (use) => void import("./threads/actions.js").then(use);

const openMemory = () => go(["settings", "memory"]);
