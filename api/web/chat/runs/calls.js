/** Calls of tools that follow one another: each a row; many are folded into one line. */

import { Icon } from "../../shared/components/icon.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { isShown } from "./call_words.js";
import { CallRow } from "./call.js";
import { namesIn } from "./results.js";

/** @typedef {import("../conversation/turn.js").CallPart} CallPart */
/** @typedef {import("../conversation/turn.js").Turn} Turn */

const FEW = 3;

/** @param {{calls: CallPart[], turn: Turn}} properties */
export function Calls({ calls, turn }) {
  const [open, setOpen] = useState(false);
  const shown = calls.filter(isShown);
  const names = namesIn(turn.parts);
  const rows = (/** @type {CallPart[]} */ some) =>
    some.map((call) => html`<li key=${call.key}><${CallRow} call=${call} names=${names} /></li>`);
  if (shown.length <= FEW)
    return html`<ul class="calls">
      ${rows(shown)}
    </ul>`;
  const running = shown.filter((call) => call.status === "pending" || call.status === "invoking");
  const failed = shown.filter((call) => call.status === "error").length;
  return html`<details class="fold many" onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
      <summary>
        <${Icon} name="tool" />${text("chat.calls", { count: shown.length })}
        ${failed > 0 && html`<span class="quiet">${text("chat.calls_failed", { count: failed })}</span>`}
      </summary>
      ${
        open &&
        html`<ul class="calls">
          ${rows(shown)}
        </ul>`
      }
    </details>
    ${
      !open &&
      running.length > 0 &&
      html`<ul class="calls">
        ${rows(running)}
      </ul>`
    }`;
}
