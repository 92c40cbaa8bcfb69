/** A block of code, with its language and a button that copies it. */

import { IconButton } from "../components/button.js";
import { html, useEffect, useRef, useState } from "../preact.js";
import { text } from "../texts/texts.js";

const SHOWN_FOR = 2000;

/** @param {{code: string, language: string}} properties */
export function CodeBlock({ code, language }) {
  const [copied, setCopied] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    await navigator.clipboard?.writeText(code);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setCopied(false), SHOWN_FOR);
  };
  const name = language || text("shared.markdown.code");
  return html`<figure class="code-block">
    <figcaption>
      <span>${name}</span>
      <${IconButton}
        icon=${copied ? "check" : "copy"}
        label=${text(copied ? "shared.copied" : "shared.markdown.copy_code")}
        onClick=${copy}
      />
    </figcaption>
    <pre tabindex="0" role="region" aria-label=${name}><code>${code}</code></pre>
  </figure>`;
}
