/** A button that copies words, and says so. */

import { IconButton } from "../../shared/components/button.js";
import { html, useEffect, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

const SHOWN_FOR = 2000;

/** @param {{words: string}} properties */
export function CopyButton({ words }) {
  const [copied, setCopied] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    await navigator.clipboard?.writeText(words);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setCopied(false), SHOWN_FOR);
  };
  return html`<${IconButton}
    icon=${copied ? "check" : "copy"}
    label=${text(copied ? "shared.copied" : "chat.copy")}
    onClick=${copy}
  />`;
}
