/** Taking changes back, or doing them again: first shown, then done. */

import { post } from "../shared/api/request.js";
import { Button } from "../shared/components/button.js";
import { Dialog, showDialog } from "../shared/components/dialogs.js";
import { announce, notifyProblem } from "../shared/components/notices.js";
import { html } from "../shared/preact.js";
import { language } from "../shared/texts/language.js";
import { text } from "../shared/texts/texts.js";

/** @typedef {"undo" | "redo"} Direction */
/** @typedef {{text?: string, summary?: string, messages?: any}} Line */
/** @typedef {{undone?: Line[], redone?: Line[], skipped: any[], outside?: Array<{text: string}>}} Outcome */

/** The words of a change in the page's language. @param {any} change @returns {string} */
export const wordsOf = (change) =>
  (language.value === "zh" && change.messages?.summary?.zh) || change.text || change.summary || "";

/** Why something stays as it is. @param {any} skipped @returns {string} */
export const reasonOf = (skipped) =>
  [skipped.summary, skipped.text ?? skipped.reason].filter(Boolean).map(String).join(": ");

/**
 * Show what would be taken back (or done again), and do it if the person agrees.
 * @param {Direction} direction
 * @param {string} path of the run or change, such as `/api/runs/ID`
 * @param {Record<string, any>} [body]
 * @returns {Promise<boolean>} whether something was done
 */
export async function reverse(direction, path, body = {}) {
  try {
    const preview = await post(`${path}/${direction}`, { ...body, preview: true });
    const agreed = await showDialog(
      (close) => html`<${Preview} direction=${direction} outcome=${preview} onClose=${close} />`,
    );
    if (!agreed) return false;
    await post(`${path}/${direction}`, body);
    announce(text(`changes.${direction}.done`));
    return true;
  } catch (problem) {
    notifyProblem(problem);
    return false;
  }
}

/** @param {{direction: Direction, outcome: Outcome, onClose: (agreed?: boolean) => void}} properties */
function Preview({ direction, outcome, onClose }) {
  const lines = outcome.undone ?? outcome.redone ?? [];
  const stays = [...outcome.skipped.map(reasonOf), ...(outcome.outside ?? []).map((one) => one.text)];
  return html`<${Dialog}
    title=${text(`changes.${direction}.title`)}
    onClose=${() => onClose(false)}
    footer=${html`<${Button} onClick=${() => onClose(false)}>${text("shared.cancel")}<//>
      <${Button} kind="main" disabled=${!lines.length} onClick=${() => onClose(true)}
        >${text(`changes.${direction}`)}<//
      >`}
  >
    ${lines.length > 0 && html`<p>${text(`changes.${direction}.will`)}</p>`}
    <ul class="change-lines">
      ${lines.map((line) => html`<li>${wordsOf(line)}</li>`)}
    </ul>
    ${!lines.length && html`<p>${text(`changes.${direction}.nothing`)}</p>`}
    ${stays.length > 0 && html`<p>${text("changes.stays")}</p>`}
    <ul class="change-lines">
      ${stays.map((line) => html`<li>${line}</li>`)}
    </ul>
  <//>`;
}
