/** A button that copies words, and shows for a moment that it did. */

import { copyText } from "../clipboard.js";
import { html, useEffect, useRef, useState } from "../preact.js";
import { text } from "../texts/texts.js";
import { IconButton } from "./button.js";

const SHOWN_FOR = 2000;

/** @param {{words: string, label: string}} properties */
export function CopyButton({ words, label }) {
  const [isCopied, copy] = useCopy(words);
  return html`<${IconButton}
    icon=${isCopied ? "check" : "copy"}
    label=${isCopied ? text("shared.copied") : label}
    onClick=${copy}
  />`;
}

/** @param {string} words @returns {[boolean, () => Promise<void>]} whether they were copied a moment ago, and what copies them */
export function useCopy(words) {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    if (!(await copyText(words))) return;
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setCopied(false), SHOWN_FOR);
  };
  return [isCopied, copy];
}
