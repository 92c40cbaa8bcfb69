/** What the assistant remembers: seen, changed, forgotten. */

import { get, patch, remove } from "../../shared/api/request.js";
import { Button, IconButton } from "../../shared/components/button.js";
import { Dialog, confirm, showDialog } from "../../shared/components/dialogs.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { Empty, Failure, Loading } from "../../shared/components/states.js";
import { goToFile, goToThread } from "../../shared/location.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { shortDate } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/memory.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"MemoryView">} Memory */

const LONGEST = 500;

/** Show it over the page. */
export const openMemory = () => showDialog((close) => html`<${MemoryDialog} onClose=${() => close()} />`);

/** @param {{onClose: () => void}} properties */
function MemoryDialog({ onClose }) {
  return html`<${Dialog} title=${text("memory.title")} onClose=${onClose}><${Memories} onLeave=${onClose} /><//>`;
}

/** The list itself. @param {{onLeave?: () => void}} properties what to do when the person goes to where a fact is from */
export function Memories({ onLeave = () => {} }) {
  const [items, setItems] = useState(/** @type {Memory[] | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    setError(null);
    get("/api/memories").then((page) => setItems(page.items), setError);
  };
  useEffect(load, []);
  if (error) return html`<${Failure} error=${error} onRetry=${load} />`;
  if (!items) return html`<${Loading} />`;
  if (!items.length) return html`<${Empty} icon="memory" title=${text("memory.none")} hint=${text("memory.none_hint")} />`;
  const change = (/** @type {Memory} */ changed) => setItems(items.map((one) => (one.id === changed.id ? changed : one)));
  const forget = (/** @type {Memory} */ gone) => setItems(items.filter((one) => one.id !== gone.id));
  return html`<p class="quiet">${text("memory.hint")}</p>
    <ul class="memories">
      ${items.map((one) => html`<${Fact} key=${one.id} fact=${one} onChange=${change} onForget=${forget} onLeave=${onLeave} />`)}
    </ul>`;
}

/** @param {{fact: Memory, onChange: (fact: Memory) => void, onForget: (fact: Memory) => void, onLeave: () => void}} properties */
function Fact({ fact, onChange, onForget, onLeave }) {
  const [editing, setEditing] = useState(false);
  const save = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const words = String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get("text")).trim();
    try {
      if (words && words !== fact.text) onChange(await patch(`/api/memories/${fact.id}`, { text: words }));
      setEditing(false);
    } catch (problem) {
      notifyProblem(problem);
    }
  };
  const forget = async () => {
    const agreed = await confirm({ title: text("memory.forget_question"), body: fact.text, action: text("memory.forget"), danger: true });
    if (!agreed) return;
    try {
      await remove(`/api/memories/${fact.id}`);
      onForget(fact);
      notify(text("memory.forgotten"));
    } catch (problem) {
      notifyProblem(problem);
    }
  };
  if (editing) {
    return html`<li>
      <form class="memory-form" onSubmit=${save}>
        <textarea name="text" autofocus rows="3" maxlength=${LONGEST} aria-label=${text("memory.edit")}>${fact.text}</textarea>
        <div class="row"><${Button} onClick=${() => setEditing(false)}>${text("shared.cancel")}<//><${Button} kind="main" type="submit">${text("memory.save")}<//></div>
      </form>
    </li>`;
  }
  return html`<li class="memory">
    <div><p>${fact.text}</p><${Origin} fact=${fact} onLeave=${onLeave} /></div>
    <${IconButton} icon="edit" label=${text("memory.edit")} onClick=${() => setEditing(true)} />
    <${IconButton} icon="trash" label=${text("memory.forget")} onClick=${forget} />
  </li>`;
}

/** Where a fact is from. @param {{fact: Memory, onLeave: () => void}} properties */
function Origin({ fact, onLeave }) {
  const { kind, thread_id: threadId, file_id: fileId, name, version } = fact.source;
  const date = shortDate(fact.created_at);
  const open = () => {
    onLeave();
    if (fileId) goToFile(fileId, version ? { version } : {});
    else if (threadId) goToThread(threadId);
  };
  const words = kind === "file" ? text("memory.from_file", { name: name || "?", date }) : text("memory.said", { date });
  if (!fileId && !threadId) return html`<p class="quiet">${words}</p>`;
  return html`<button type="button" class="origin" onClick=${open}>${words}</button>`;
}
