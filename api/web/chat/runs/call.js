/** A call of a tool: a quiet row; unfolded, its progress, arguments and result. */

import { Icon } from "../../shared/components/icon.js";
import { html, useState } from "../../shared/preact.js";
import { duration } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { callSubject, callTitle } from "./call_words.js";
import { ItemRows } from "./item_rows.js";
import { resultOf } from "./results.js";

/** @typedef {import("../conversation/turn.js").CallPart} CallPart */

const ICONS = {
  pending: "clock",
  invoking: "clock",
  done: "check",
  error: "warning",
  cancelled: "stop",
  rejected: "close",
};
const WORTH_TELLING = 1000;

/** @param {{call: CallPart, names: Map<string, string>}} properties */
export function CallRow({ call, names }) {
  const [open, setOpen] = useState(false);
  const subject = callSubject(call, names);
  const running = call.status === "pending" || call.status === "invoking";
  const state = text(`chat.call.${call.status}`);
  return html`<details
    class=${`fold call ${call.status}`}
    onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}
  >
    <summary>
      ${running ? html`<span class="spinner" role="img" aria-label=${state}></span>` : html`<${Icon} name=${ICONS[call.status]} label=${state} />`}
      <span class="call-title">${callTitle(call)}</span>
      ${subject && html`<span class="call-subject">${subject}</span>`}
      ${(call.duration ?? 0) >= WORTH_TELLING && html`<span class="call-time">${duration(call.duration ?? 0)}</span>`}
    </summary>
    ${running && html`<${Progress} call=${call} />`} ${open && html`<${Details} call=${call} />`}
  </details>`;
}

/** @param {{call: CallPart}} properties */
function Progress({ call }) {
  if (!call.message && call.progress === undefined) return null;
  return html`<p class="line">
    ${call.total ? html`<progress max=${call.total} value=${call.progress} aria-label=${text("chat.call.invoking")}></progress>` : null}${call.message}
  </p>`;
}

/** @param {{call: CallPart}} properties */
function Details({ call }) {
  const { sentence, items } = resultOf(call);
  const response = call.record?.response || "";
  return html`<div class="fold-body">
    ${call.reason && html`<p class="quiet">${text(`chat.unasked.${call.reason}`)}</p>`}
    ${Object.keys(call.args).length > 0 && html`<${Arguments} args=${call.args} />`}
    ${(sentence || response) && html`<p class="result">${sentence || response}</p>`}
    <${ItemRows} items=${items} />
    ${call.result && html`<${Whole} result=${call.result} />`}
  </div>`;
}

/** @param {{args: Record<string, any>}} properties */
function Arguments({ args }) {
  return html`<dl class="arguments">
    ${Object.entries(args).map(
      ([name, value]) =>
        html`<div>
          <dt>${name.replaceAll("_", " ")}</dt>
          <dd>${typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </div>`,
    )}
  </dl>`;
}

/** What the model was told, to the letter. @param {{result: string}} properties */
function Whole({ result }) {
  const [open, setOpen] = useState(false);
  return html`<details class="fold" onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>${text("chat.call.whole")}</summary>
    ${open && html`<pre tabindex="0" role="region" aria-label=${text("chat.call.whole")}>${result}</pre>`}
  </details>`;
}
