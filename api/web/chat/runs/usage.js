/** What an answer took of the model, quietly. */

import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @param {{usage: Record<string, number> | null}} properties */
export function Usage({ usage }) {
  const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  if (!tokens) return null;
  const cost = usage?.cost_micros ? ` · ${(usage.cost_micros / 1e6).toFixed(4)}` : "";
  return html`<span class="usage">${text("chat.tokens", { count: tokens })}${cost}</span>`;
}
