/** One call that waits: what it will do, to what, why it is asked about, and the ways to decide. */

import { Button } from "../../shared/components/button.js";
import { Diff } from "../../shared/components/diff.js";
import { Icon } from "../../shared/components/icon.js";
import { html, useId, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { EditForm } from "./forms/edit_form.js";
import { GrantForm } from "./forms/grant_form.js";
import { Sentence } from "./names.js";
import { partsOf } from "./preview_parts.js";
import { onPurpose } from "./steady.js";
import { Targets } from "./targets.js";
import { WordsForm } from "./forms/words_form.js";

/** @typedef {import("./card.js").Action} Action */
/** @typedef {import("./deciding.js").Decision} Decision */
/** @typedef {"edit" | "reject" | "respond" | "grant" | ""} OpenForm */

/** Longer facts, such as all arguments of a call, stand below what everybody has to read. */
const LONG_FACT = 240;

/** @param {{action: Action, approvalId: string, deciding: ReturnType<typeof import("./deciding.js").useDecisions>, isOnly: boolean, isSteady: boolean, isLate: boolean}} properties */
export function ActionView({ action, approvalId, deciding, isOnly, isSteady, isLate }) {
  const [form, setForm] = useState(/** @type {OpenForm} */ (""));
  const id = useId();
  const question = useRef(/** @type {HTMLElement | null} */ (null));
  const { tool_call_id: call } = action;
  const { sentence, items, diff, facts } = partsOf(action.preview);
  const made = deciding.made[call];
  const decide = (/** @type {Decision} */ decision) => {
    setForm("");
    deciding.decide(call, decision);
  };
  const close = () => {
    setForm("");
    question.current?.focus();
  };
  const isOpen = form && !isLate;
  return html`<article class=${action.reversible ? "approval-action" : "approval-action final"} aria-label=${sentence}>
    <div class="approval-body" tabindex="-1">
      <p class="approval-sentence" id=${`sentence${id}`} dir="auto" tabindex="-1" ref=${question}>
        <${Sentence} sentence=${sentence} action=${action} />
      </p>
      ${
        isOpen
          ? html`<${FormOf}
              form=${form}
              action=${action}
              approvalId=${approvalId}
              onDecide=${decide}
              onClose=${close}
            />`
          : html`<${Targets} lines=${items} action=${action} />
              <${Facts} facts=${facts.filter((fact) => fact.length <= LONG_FACT)} action=${action} />
              <p class=${action.code === "changed" ? "line warning" : "line"}>
                <${Icon} name=${action.reversible ? "info" : "warning"} />${action.reason}
              </p>
              <${ReadBefore} action=${action} />
              ${diff && html`<${Diff} label=${text("approval.diff")} diff=${diff} />`}
              <${Facts} facts=${facts.filter((fact) => fact.length > LONG_FACT)} action=${action} isLong />
              <${Arguments} args=${action.args} />
              ${!made && !isLate && html`<${OtherWays} action=${action} isBusy=${deciding.isSending} onForm=${setForm} />`}`
      }
    </div>
    ${!isOpen && !isLate && (made && !deciding.isSending ? html`<${Made} decision=${made} onReconsider=${() => deciding.reconsider(call)} />` : html`<${Ways} action=${action} isOnly=${isOnly} isBusy=${deciding.isSending} isSteady=${isSteady} about=${`sentence${id}`} onForm=${setForm} onDecide=${decide} />`)}
  </article>`;
}

/** @param {{facts: string[], action: Action, isLong?: boolean}} properties */
function Facts({ facts, action, isLong = false }) {
  if (!facts.length) return null;
  return html`<ul class=${isLong ? "approval-facts quiet long" : "approval-facts quiet"}>
    ${facts.map((fact) => html`<li key=${fact} dir="auto"><${Sentence} sentence=${fact} action=${action} /></li>`)}
  </ul>`;
}

/** @param {{action: Action, isOnly: boolean, isBusy: boolean, isSteady: boolean, about: string, onForm: (form: OpenForm) => void, onDecide: (decision: Decision) => void}} properties */
function Ways({ action, isOnly, isBusy, isSteady, about, onForm, onDecide }) {
  return html`<div class="row approval-ways">
    <${Button}
      kind=${action.reversible && isOnly ? "main" : action.reversible ? "" : "danger"}
      icon="check"
      aria-describedby=${about}
      ...${onPurpose(isSteady && !isBusy, () => onDecide({ type: "approve" }))}
      >${text("approval.approve")}<//
    >
    <${Button}
      icon="close"
      aria-describedby=${about}
      aria-disabled=${isBusy ? "true" : undefined}
      onClick=${() => isBusy || onForm("reject")}
      >${text("approval.reject")}<//
    >
  </div>`;
}

/** What else can be said to it. @param {{action: Action, isBusy: boolean, onForm: (form: OpenForm) => void}} properties */
function OtherWays({ action, isBusy, onForm }) {
  const way = (/** @type {"edit" | "respond" | "grant"} */ name, /** @type {string} */ icon) =>
    html`<${Button} icon=${icon} aria-disabled=${isBusy ? "true" : undefined} onClick=${() => isBusy || onForm(name)}
      >${text(`approval.${name}`)}<//
    >`;
  const canEdit = Object.keys(action.editable ?? {}).length > 0;
  return html`<div class="row approval-others">
    ${canEdit && way("edit", "edit")} ${way("respond", "chat")}
    ${action.grant_kind && action.reversible && way("grant", "clock")}
  </div>`;
}

/** @param {{form: OpenForm, action: Action, approvalId: string, onDecide: (decision: Decision) => void, onClose: () => void}} properties */
function FormOf({ form, action, approvalId, onDecide, onClose }) {
  if (form === "edit")
    return html`<${EditForm} action=${action} approvalId=${approvalId} onDecide=${onDecide} onClose=${onClose} />`;
  if (form === "grant") return html`<${GrantForm} action=${action} onDecide=${onDecide} onClose=${onClose} />`;
  return html`<${WordsForm} kind=${form} onDecide=${onDecide} onClose=${onClose} />`;
}

/** @param {{decision: Decision, onReconsider: () => void}} properties */
function Made({ decision: { type, message, grant }, onReconsider }) {
  const words = text(grant ? "approval.made.grant" : `approval.made.${type}`);
  return html`<div class="row approval-made">
    <span role="status">${message ? `${words} ${message}` : words}</span>
    <${Button} onClick=${onReconsider}>${text("approval.reconsider")}<//>
  </div>`;
}

/** What was read before, and may have led to the call: the files, and the words on demand. @param {{action: Action}} properties */
function ReadBefore({ action: { passage, sources = [] } }) {
  if (!passage) return null;
  const files = sources.length ? sources : [passage];
  return html`<div class="approval-passage">
    <p class="quiet">
      ${text("approval.read_before")}${" "}
      ${files.map(
        (file, at) =>
          html`${at ? ", " : ""}<bdi class="quoted">${file.path || file.name}</bdi
            >${" "}(${text(`approval.origin.${file.origin}`)})`,
      )}
    </p>
    ${
      passage.excerpt &&
      html`<details class="fold">
        <summary>${text("approval.words_read")}</summary>
        <blockquote dir="auto">${passage.excerpt}</blockquote>
      </details>`
    }
  </div>`;
}

/** @param {{args: Record<string, any>}} properties */
function Arguments({ args }) {
  const entries = Object.entries(args);
  if (!entries.length) return null;
  return html`<details class="fold">
    <summary>${text("approval.arguments")}</summary>
    <div class="fold-body">
      <dl class="arguments">
        ${entries.map(
          ([name, value]) =>
            html`<div key=${name}>
              <dt><bdi>${name}</bdi></dt>
              <dd dir="auto">${typeof value === "string" ? value : JSON.stringify(value)}</dd>
            </div>`,
        )}
      </dl>
    </div>
  </details>`;
}
