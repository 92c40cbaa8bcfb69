/** Who answers: the assistant and the model of the thread, where there is a choice. */

import { get } from "../../shared/api/request.js";
import { openMenu } from "../../shared/components/menus.js";
import { Icon } from "../../shared/components/icon.js";
import { html, signal, useEffect } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { thread } from "../conversation/conversation.js";

/** @typedef {{model?: string, assistant_id?: string}} Chosen */

const BUILT_IN = "drive_agent";
/** @type {import("../../vendor/signals.js").Signal<any[]>} */
const models = signal([]);
/** @type {import("../../vendor/signals.js").Signal<any[]>} */
const assistants = signal([]);
/** What the person chose, for the thread that is shown. @type {import("../../vendor/signals.js").Signal<Chosen & {threadId: string | undefined}>} */
const chosen = signal({ threadId: undefined });

/** What a message says of it; nothing where the person chose nothing. @returns {Chosen} */
export function chosenOptions() {
  const { threadId, ...options } = chosen.peek();
  return threadId === thread.peek()?.thread_id ? options : {};
}

/** @param {Chosen} change */
function choose(change) {
  chosen.value = { ...chosenOptions(), ...change, threadId: thread.peek()?.thread_id };
}

async function load() {
  const lists = await Promise.all([get("/api/models"), get("/api/assistants")]).catch(() => null);
  if (lists) [models.value, assistants.value] = lists.map((list) => list.items);
}

/** A button with the names of both; none where there is nothing to choose. */
export function Options() {
  useEffect(() => void load(), []);
  const now = current();
  if (models.value.length < 2 && assistants.value.length < 2) return null;
  const show = (/** @type {MouseEvent} */ event) =>
    openMenu(/** @type {Element} */ (event.currentTarget), items(), text("chat.options"));
  const words = [assistants.value.length > 1 && nameOf(now.assistant), models.value.length > 1 && now.model]
    .filter(Boolean)
    .join(" · ");
  return html`<button
    type="button"
    class="options"
    aria-haspopup="menu"
    aria-label=${`${text("chat.options")}: ${words}`}
    onClick=${show}
  >
    <span>${words}</span><${Icon} name="expand" />
  </button>`;
}

function current() {
  const shown = thread.value;
  const options =
    chosen.value.threadId === shown?.thread_id ? chosen.value : { model: undefined, assistant_id: undefined };
  const id = options.assistant_id ?? shown?.assistant_id;
  const assistant = assistants.value.find((one) => (id ? one.id === id : one.is_default));
  const usual = models.value.find((one) => one.is_default)?.name ?? "";
  return { assistant, model: options.model || shown?.model || assistant?.model || usual };
}

/** @param {any} assistant */
const nameOf = (assistant) => (!assistant || assistant.id === BUILT_IN ? text("chat.built_in") : assistant.name);

function items() {
  const now = current();
  const persons = assistants.value.map((one) => ({
    title: nameOf(one),
    checked: one === now.assistant,
    run: () => choose({ assistant_id: one.id }),
  }));
  const kinds = models.value.map((one) => ({
    title: one.name,
    checked: one.name === now.model,
    run: () => choose({ model: one.name }),
  }));
  const lists = [persons, kinds].filter((list) => list.length > 1);
  return lists.flatMap((list, index) => (index ? [{}, ...list] : list));
}
