/** Writing in a text or Markdown file. */

import { Button, IconButton } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { notify } from "../../shared/components/notices.js";
import { Failure, Loading } from "../../shared/components/states.js";
import { isCommand, keysLabel } from "../../shared/keys.js";
import { go } from "../../shared/location.js";
import { html, useEffect, useRef, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { moment } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Formatted } from "../preview/formatted.js";
import { kindOf } from "../preview/kinds.js";
import { Conflict } from "./conflict.js";
import { useEditing } from "./editing.js";
import { Field } from "./field.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/editor.css")]);

/** @typedef {ReturnType<typeof useEditing>} Editing */

/** @param {{item: import("./stored.js").Item}} properties */
export function Editor({ item }) {
  const editing = useEditing(item);
  const [isPreview, setPreview] = useState(false);
  /** What they wrote, beside what is written, while both are brought together. */
  const [beside, setBeside] = useState(/** @type {import("./stored.js").Stored | null} */ (null));
  useSaveKey(editing.save);
  if (editing.error) return html`<${Failure} error=${editing.error} onRetry=${editing.load} />`;
  if (!editing.stored) return html`<${Loading} />`;
  const close = () => {
    if (editing.isDirty) tellOfDraft(item);
    go(["file", item.id]);
  };
  const merge = () => {
    if (!editing.theirs) return;
    setBeside(editing.theirs);
    editing.goOnFrom(editing.theirs);
  };
  const kind = kindOf(item);
  const field = html`<${Field}
    value=${editing.mine}
    label=${item.name}
    isCode=${kind === "code" || kind === "page" || kind === "table"}
    onInput=${editing.write}
  />`;
  return html`<div class="editor">
    <${Head} item=${item} editing=${editing} isPreview=${isPreview} onPreview=${setPreview} onClose=${close} />
    <${Notes} item=${item} editing=${editing} />
    ${
      editing.theirs
        ? html`<${Conflict}
            mine=${editing.mine}
            theirs=${editing.theirs}
            onKeepMine=${editing.keepMine}
            onTakeTheirs=${editing.takeTheirs}
            onMerge=${merge}
          />`
        : html`<div class="editor-body">
            ${
              isPreview
                ? html`<div class="editor-preview" tabindex="0" role="region" aria-label=${text("editor.preview")}>
                    <${Formatted} source=${editing.mine} />
                  </div>`
                : field
            }
            ${beside && !isPreview && html`<${Theirs} stored=${beside} onClose=${() => setBeside(null)} />`}
          </div>`
    }
  </div>`;
}

/** @param {{item: any, editing: Editing, isPreview: boolean, onPreview: (is: boolean) => void, onClose: () => void}} properties */
function Head({ item, editing, isPreview, onPreview, onClose }) {
  const state = editing.isSaving ? "editor.saving" : editing.isDirty ? "editor.unsaved" : "editor.up_to_date";
  return html`<header class="preview-header">
    <${IconButton} icon="back" label=${text("editor.close")} onClick=${onClose} />
    <div class="preview-title">
      <h2 title=${item.path}><bdi>${item.name}</bdi></h2>
      <span class="quiet" role="status">${text(state, { version: editing.stored?.version ?? 0 })}</span>
    </div>
    ${
      kindOf(item) === "markdown" &&
      html`<${Button} icon="text" aria-pressed=${isPreview} onClick=${() => onPreview(!isPreview)}
        >${text("editor.preview")}<//
      >`
    }
    <${Button}
      kind="main"
      disabled=${!editing.isDirty || editing.isSaving}
      title=${keysLabel("Ctrl+S")}
      onClick=${editing.save}
    >
      ${text("editor.save")}
    <//>
  </header>`;
}

/** @param {{item: any, editing: Editing}} properties */
function Notes({ item, editing }) {
  const { stored, draftAt } = editing;
  const note = (/** @type {string} */ icon, /** @type {string} */ words, /** @type {any} */ action = null) =>
    html`<div class="editor-note" role="note"><${Icon} name=${icon} /><span>${words}</span>${action}</div>`;
  const isOlder = stored !== null && item.version > stored.version && !editing.theirs && !editing.isSaving;
  return html`
    ${
      draftAt &&
      note(
        "edit",
        text("editor.draft", { when: moment(draftAt) }),
        html`<${Button} onClick=${editing.discard}>${text("editor.discard")}<//>`,
      )
    }
    ${stored && !stored.isUtf8 && note("info", text("editor.encoding"))}
    ${isOlder && note("warning", text("editor.changed"), html`<${Button} onClick=${editing.compare}>${text("editor.compare")}<//>`)}
  `;
}

/** @param {{stored: import("./stored.js").Stored, onClose: () => void}} properties */
function Theirs({ stored, onClose }) {
  const label = text("editor.theirs", { version: stored.version });
  return html`<section class="editor-theirs" aria-label=${label}>
    <div class="row">
      <h3>${label}</h3>
      <${IconButton} icon="close" label=${text("editor.hide_theirs")} onClick=${onClose} />
    </div>
    <textarea readonly aria-label=${label} dir="auto" value=${stored.text}></textarea>
  </section>`;
}

/** Who leaves without saving loses nothing. @param {{id: string, name: string}} item */
function tellOfDraft({ id, name }) {
  const run = () => go(["file", id], { edit: 1 });
  notify(text("editor.draft_kept", { name }), { action: { title: text("editor.go_on"), run } });
}

/** @param {() => void} save */
function useSaveKey(save) {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (!isCommand(event) || event.key.toLowerCase() !== "s" || event.shiftKey || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
