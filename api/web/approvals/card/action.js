/** One call that waits: what it will do, to what, why it is asked about, and the ways to decide. */

import { Button } from "../../shared/components/button.js";
import { Diff } from "../../shared/components/diff.js";
import { Icon } from "../../shared/components/icon.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { EditForm } from "./edit_form.js";
import { GrantForm } from "./grant_form.js";
import { partsOf } from "./preview_parts.js";
import { Targets } from "./targets.js";
import { WordsForm } from "./words_form.js";

/** @typedef {import("./card.js").Action} Action */
/** @typedef {import("./deciding.js").Decision} Decision */
/** @typedef {"edit" | "reject" | "respond" | "grant" | ""} OpenForm */

/** @param {{action: Action, approvalId: string, deciding: ReturnType<typeof import("./deciding.js").useDecisions>, isOnly: boolean}} properties */
export function ActionView({ action, approvalId, deciding, isOnly }) {
  const [form, setForm] = useState(/** @type {OpenForm} */ (""));
  const { tool_call_id: call } = action;
  const { sentence, items, diff, facts } = partsOf(action.preview);
  const made = deciding.made[call];
  const decide = (/** @type {Decision} */ decision) => {
    setForm("");
    deciding.decide(call, decision);
  };
  return html`<article class=${action.reversible ? "approval-action" : "approval-action final"} aria-label=${sentence}>
    <p class="approval-sentence" dir="auto">${sentence}</p>
    <${Targets} lines=${items} action=${action} />
    ${diff && html`<${Diff} label=${text("approval.diff")} diff=${diff} />`}
    <ul class="approval-facts">
      ${facts.map((fact) => html`<li key=${fact} dir="auto">${fact}</li>`)}
    </ul>
    <p class=${action.code === "changed" ? "line warning" : "line"}>
      <${Icon} name=${action.reversible ? "info" : "warning"} />${action.reason}
    </p>
    <${ReadBefore} passage=${action.passage} />
    <${Arguments} args=${action.args} />
    ${
      made && !deciding.isSending
        ? html`<${Made} decision=${made} onReconsider=${() => deciding.reconsider(call)} />`
        : html`<${Ways}
            action=${action}
            isOnly=${isOnly}
            isBusy=${deciding.isSending}
            form=${form}
            onForm=${setForm}
            onDecide=${decide}
          />`
    }
    ${form && html`<${FormOf} form=${form} action=${action} approvalId=${approvalId} onDecide=${decide} onClose=${() => setForm("")} />`}
  </article>`;
}

/** @param {{action: Action, isOnly: boolean, isBusy: boolean, form: OpenForm, onForm: (form: OpenForm) => void, onDecide: (decision: Decision) => void}} properties */
function Ways({ action, isOnly, isBusy, form, onForm, onDecide }) {
  const busy = isBusy ? "true" : undefined;
  const way = (/** @type {Exclude<OpenForm, "">} */ name, /** @type {string} */ icon) =>
    html`<${Button}
      icon=${icon}
      aria-expanded=${form === name}
      aria-disabled=${busy}
      onClick=${() => onForm(form === name ? "" : name)}
      >${text(`approval.${name}`)}<//
    >`;
  return html`<div class="row approval-ways">
    <${Button}
      kind=${action.reversible && isOnly ? "main" : action.reversible ? "" : "danger"}
      icon="check"
      aria-disabled=${busy}
      onClick=${() => !isBusy && onDecide({ type: "approve" })}
      >${text("approval.approve")}<//
    >
    ${way("edit", "edit")} ${way("reject", "close")} ${way("respond", "chat")}
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

/** What was read before, and may have led to the call. @param {{passage: Action["passage"]}} properties */
function ReadBefore({ passage }) {
  if (!passage) return null;
  return html`<div class="approval-passage">
    <p class="quiet">
      ${text("approval.read_before")} <bdi>${passage.path}</bdi> (${text(`approval.origin.${passage.origin}`)})
    </p>
    <blockquote dir="auto">${passage.excerpt}</blockquote>
  </div>`;
}

/** @param {{args: Record<string, any>}} properties */
function Arguments({ args }) {
  const entries = Object.entries(args);
  if (!entries.length) return null;
  return html`<details class="fold">
    <summary>${text("approval.arguments")}</summary>
    <dl class="approval-arguments">
      ${entries.map(
        ([name, value]) =>
          html`<div key=${name}>
            <dt>${name}</dt>
            <dd dir="auto">${typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </div>`,
      )}
    </dl>
  </details>`;
}
