/** Where the person writes to the assistant. */

import { attachments, composerRequest, detach, uploadAndAttach } from "../../shared/attachments.js";
import { chooseOfDevice } from "../../shared/choose.js";
import { IconButton } from "../../shared/components/button.js";
import { announce, notifyProblem } from "../../shared/components/notices.js";
import { isComposing } from "../../shared/keys.js";
import { batch, html, signal, useEffect, useLayoutEffect, useRef, useState } from "../../shared/preact.js";
import { hasScope } from "../../shared/session.js";
import { side } from "../../shared/sides.js";
import { text } from "../../shared/texts/texts.js";
import { active, say, shownVersion, showVersion, stop, thread, turns } from "../conversation/conversation.js";
import { editing } from "../transcript/editing.js";
import { Attached } from "./attached.js";
import { keptDraft, keepDraft } from "./drafts.js";
import { focusComposer } from "./focus.js";
import { mentionAt } from "./mention.js";
import { Mentions } from "./mentions.js";
import { isNext, Next, useNext } from "./next.js";
import { chosenOptions, Options } from "./options.js";

/** @typedef {import("../../shared/attachments.js").Attachment} Attachment */
/** @typedef {(event: KeyboardEvent) => boolean} KeyTaker */

const TALLEST = 240;
/** What is written. */
const draft = signal("");

/** @param {{threadId: string | null}} properties */
export function Composer({ threadId }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const mentionKeys = useRef(/** @type {KeyTaker | null} */ (null));
  const [caret, setCaret] = useState(0);
  const [dropping, setDropping] = useState(false);
  /** Where the `@` stands of which the person wants no list. */
  const [letGo, setLetGo] = useState(-1);
  useDraftOf(threadId);
  useRequests();
  useNext(threadId, submit);
  useLayoutEffect(() => fit(field.current), [draft.value]);
  const found = mentionAt(draft.value, caret);
  useEffect(() => setLetGo(-1), [found === null]);
  const mention = found?.start === letGo ? null : found;
  const look = () => setCaret(field.current?.selectionStart ?? 0);
  const write = (/** @type {Event} */ event) => {
    draft.value = /** @type {HTMLTextAreaElement} */ (event.target).value;
    if (!draft.value.trim()) isNext.value = false;
    look();
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    // What an input method composes is its own: Enter takes a word then, and sends nothing.
    if (isComposing(event) || mentionKeys.current?.(event)) return;
    if (event.key === "Escape") isNext.value = false;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void submit();
    } else if (event.key === "ArrowUp" && !draft.value) editLast(event);
  };
  const pick = (/** @type {Attachment} */ item) => {
    if (!mention) return;
    const words = `${draft.value.slice(0, mention.start)}${item.name} `;
    draft.value = words + draft.value.slice(caret).replace(/^ /, "");
    attachments.value = [...attachments.value.filter((one) => one.id !== item.id), item];
    setCaret(words.length);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(words.length, words.length);
    });
  };
  const drop = (/** @type {DragEvent} */ event) => {
    setDropping(false);
    takeFiles(event, event.dataTransfer);
  };
  const over = (/** @type {DragEvent} */ event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    setDropping(true);
  };
  const placeholder = shownVersion.value ? text("chat.earlier_version") : text("chat.ask");
  return html`<form
    class=${dropping ? "composer dropping" : "composer"}
    aria-label=${text("chat.message")}
    onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), void submit())}
    onDragOver=${over}
    onDragLeave=${() => setDropping(false)}
    onDrop=${drop}
  >
    ${mention && html`<${Mentions} words=${mention.words} onPick=${pick} keys=${mentionKeys} onClose=${() => setLetGo(mention.start)} />`}
    <${Attached} items=${attachments.value} onRemove=${detach} />
    <textarea
      id="composer"
      ref=${field}
      rows="1"
      maxlength="100000"
      aria-label=${text("chat.message")}
      aria-autocomplete="list"
      aria-controls=${mention ? "mentions" : undefined}
      placeholder=${dropping ? text("chat.drop") : placeholder}
      value=${draft.value}
      disabled=${!hasScope("read")}
      onInput=${write}
      onKeyDown=${press}
      onKeyUp=${look}
      onClick=${look}
      onPaste=${(/** @type {ClipboardEvent} */ event) => takeFiles(event, event.clipboardData)}
    ></textarea>
    ${isNext.value && html`<${Next} />`}
    <div class="composer-tools">
      <${AttachButton} />
      <${Options} />
      <span class="grow"></span>
      <${SendButton} />
    </div>
  </form>`;
}

/** Send, or stop what runs. */
function SendButton() {
  const turn = active.value;
  if (turn && turn.status !== "sending") {
    return html`<${IconButton} icon="stop" class="send" label=${text("chat.stop")} onClick=${stop} />`;
  }
  const empty = !draft.value.trim();
  return html`<${IconButton}
    icon="up"
    class="send main"
    type="submit"
    label=${text("chat.send")}
    disabled=${empty || turn !== null}
  />`;
}

/** Choose files of the device. */
function AttachButton() {
  const choose = () => chooseOfDevice({ multiple: true }, (files) => void bring(files));
  return html`<${IconButton} icon="attach" label=${text("chat.attach")} onClick=${choose} />`;
}

/** The conversation that is shown; null: a new one. */
const shownThread = () => thread.peek()?.thread_id ?? null;

async function submit() {
  const message = draft.value.trim();
  const running = active.peek();
  if (!message) return;
  // A plan that is under way takes commands; the service says which words are one.
  if (running && running.plan === null) {
    isNext.value = true;
    announce(text("chat.next"));
    return;
  }
  const items = attachments.peek();
  batch(() => {
    draft.value = "";
    attachments.value = [];
  });
  const at = shownThread();
  if (shownVersion.peek()) await showVersion(turns.peek().at(-1)?.versions.at(-1) ?? "");
  // Who left meanwhile says it in no other conversation: it waits in its own.
  if (shownThread() !== at) return keepDraft(at, { message, attachments: items });
  return say({ message, attachments: items }, chosenOptions());
}

/** @param {KeyboardEvent} event */
function editLast(event) {
  const last = turns.peek().at(-1);
  if (!last?.runId || active.peek() || shownVersion.peek()) return;
  event.preventDefault();
  editing.value = last.runId;
}

/** Show the draft of a thread, and keep what is written. @param {string | null} threadId */
function useDraftOf(threadId) {
  const shown = useRef(/** @type {string | null | undefined} */ (undefined));
  useEffect(() => {
    const before = shown.current;
    shown.current = threadId;
    // The first message made the thread: what is written meanwhile stays.
    if (before === null && threadId && turns.peek().length) {
      keepDraft(null, { message: "", attachments: [] });
      return;
    }
    const kept = keptDraft(threadId);
    batch(() => {
      draft.value = kept.message;
      attachments.value = before === undefined ? [...attachments.peek(), ...kept.attachments] : kept.attachments;
    });
  }, [threadId]);
  useEffect(() => {
    if (shown.current === threadId) keepDraft(threadId, { message: draft.value, attachments: attachments.value });
  }, [draft.value, attachments.value]);
}

/** Do what another room asks of the composer. */
function useRequests() {
  const request = composerRequest.value;
  useEffect(() => {
    if (!request) return;
    composerRequest.value = null;
    side.value = "chat";
    draft.value = request.message || draft.peek();
    if (request.send && draft.peek().trim()) void submit();
    else focusComposer();
  }, [request]);
}

/** @param {Event} event @param {DataTransfer | null} transfer */
function takeFiles(event, transfer) {
  const files = [...(transfer?.files ?? [])];
  if (!files.length) return;
  event.preventDefault();
  void bring(files);
}

/** @param {File[]} files of the device */
async function bring(files) {
  if (!files.length) return;
  await uploadAndAttach(files).catch(notifyProblem);
  focusComposer();
}

/** Let the field be as tall as what is in it. @param {HTMLTextAreaElement | null} field */
function fit(field) {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(TALLEST, field.scrollHeight)}px`;
}
