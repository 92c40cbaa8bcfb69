/** What can be done with an answer. */

import { IconButton } from "../../shared/components/button.js";
import { CopyButton } from "../../shared/components/copy_button.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { active, regenerate, shownVersion } from "../conversation/conversation.js";
import { answerText } from "../conversation/turn.js";
import { Usage } from "../runs/usage.js";

/** @param {{turn: import("../conversation/turn.js").Turn, isLast: boolean}} properties */
export function AnswerActions({ turn, isLast }) {
  const words = answerText(turn);
  const mayRepeat = isLast && turn.runId && !active.value && !shownVersion.value;
  return html`<div class="actions">
    ${words && html`<${CopyButton} words=${words} label=${text("chat.copy")} />`}
    ${mayRepeat && html`<${IconButton} icon="restore" label=${text("chat.regenerate")} onClick=${() => regenerate(turn)} />`}
    <${Usage} usage=${turn.usage} />
  </div>`;
}
