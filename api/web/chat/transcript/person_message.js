/** What the person said: copied, changed, or seen in an earlier version. */

import { Button, IconButton } from "../../shared/components/button.js";
import { CopyButton } from "../../shared/components/copy_button.js";
import { Icon } from "../../shared/components/icon.js";
import { isComposing } from "../../shared/keys.js";
import { goToFile, goToFolder } from "../../shared/location.js";
import { html, useLayoutEffect, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { active, edit, shownVersion } from "../conversation/conversation.js";
import { editing } from "./editing.js";
import { Versions } from "./versions.js";

/** @typedef {import("../conversation/turn.js").Turn} Turn */

/** @param {{turn: Turn, isLast: boolean}} properties */
export function PersonMessage({ turn, isLast }) {
  if (!turn.message) return null;
  const mayEdit = isLast && turn.runId && !active.value && !shownVersion.value;
  if (mayEdit && editing.value === turn.runId) return html`<${Editor} turn=${turn} />`;
  return html`<section class="person" aria-label=${text("chat.you")}>
    <div class="bubble">${turn.message}</div>
    ${
      turn.attachments.length > 0 &&
      html`<ul class="chips">
        ${turn.attachments.map(attached)}
      </ul>`
    }
    <div class="actions">
      ${isLast && html`<${Versions} turn=${turn} />`}
      <${CopyButton} words=${turn.message} label=${text("chat.copy")} />
      ${mayEdit && html`<${IconButton} icon="edit" label=${text("chat.edit")} onClick=${() => (editing.value = turn.runId)} />`}
    </div>
  </section>`;
}

/** @param {{id: string, kind: string, name: string}} item */
function attached({ id, kind, name }) {
  const open = () => (kind === "folder" ? goToFolder(id) : goToFile(id));
  return html`<li>
    <button type="button" class="chip" onClick=${open}>
      <${Icon} name=${kind === "folder" ? "folder" : "file"} /><span>${name}</span>
    </button>
  </li>`;
}

/** @param {{turn: Turn}} properties */
function Editor({ turn }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [words, setWords] = useState(turn.message);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(words.length, words.length);
  }, []);
  const close = () => (editing.value = null);
  const save = () => {
    if (!words.trim()) return;
    close();
    void edit(turn, words.trim());
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (isComposing(event)) return;
    if (event.key === "Escape") close();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    save();
  };
  return html`<section class="person editing" aria-label=${text("chat.you")}>
    <textarea
      ref=${field}
      aria-label=${text("chat.edit")}
      rows=${Math.min(12, words.split("\n").length + 1)}
      value=${words}
      onInput=${(/** @type {InputEvent} */ event) => setWords(/** @type {HTMLTextAreaElement} */ (event.target).value)}
      onKeyDown=${press}
    ></textarea>
    <div class="row">
      <${Button} onClick=${close}>${text("shared.cancel")}<//>
      <${Button} kind="main" icon="send" disabled=${!words.trim()} onClick=${save}>${text("chat.send")}<//>
    </div>
  </section>`;
}
