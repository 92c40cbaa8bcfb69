/** A text in Markdown as it is meant. */

import { Button } from "../../../shared/components/button.js";
import { Empty, Failure, Loading } from "../../../shared/components/states.js";
import { html } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";
import { Formatted } from "../formatted.js";
import { useText } from "./text_view.js";

/** @param {{item: import("../kinds.js").Item, passage: import("../passage.js").Passage}} properties */
export function MarkdownView({ item, passage }) {
  const shown = useText(item, { ...passage, start: null, end: null });
  if (shown.error) return html`<${Failure} error=${shown.error} onRetry=${shown.begin} />`;
  if (!shown.parts.length) return html`<${Loading} />`;
  const whole = shown.parts.map((part) => part.text).join("");
  if (!whole.trim()) return html`<${Empty} icon="text" title=${text("preview.empty")} />`;
  return html`<div class="text-view document" tabindex="0" role="region" aria-label=${item.name}>
    <article class="written-markdown"><${Formatted} source=${whole} /></article>
    ${shown.more && html`<${Button} icon="expand" onClick=${shown.more}>${text("preview.more")}<//>`}
  </div>`;
}
