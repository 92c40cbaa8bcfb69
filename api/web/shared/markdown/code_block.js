/** A block of code, with its language and a button that copies it. */

import { CopyButton } from "../components/copy_button.js";
import { html } from "../preact.js";
import { text } from "../texts/texts.js";

/** @param {{code: string, language: string}} properties */
export function CodeBlock({ code, language }) {
  const name = language || text("shared.markdown.code");
  return html`<figure class="code-block">
    <figcaption>
      <span>${name}</span>
      <${CopyButton} words=${code} label=${text("shared.markdown.copy_code")} />
    </figcaption>
    <pre tabindex="0" role="region" aria-label=${name}><code>${code}</code></pre>
  </figure>`;
}
