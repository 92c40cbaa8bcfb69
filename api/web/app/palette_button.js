/** The keys that work everywhere, and the button in the header that opens the command palette. */

import { Icon } from "../shared/components/icon.js";
import { isCommand, isComposing, isTyping, keysLabel } from "../shared/keys.js";
import { html, useEffect } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";

const KEYS = "Ctrl+K";

const openPalette = () => import("./palette/palette.js").then((module) => module.openPalette());
const showKeys = () => import("./keyboard/keyboard.js").then((module) => module.showKeys());

/** @param {KeyboardEvent} event */
function wanted(event) {
  if (isComposing(event) || event.defaultPrevented) return null;
  if (isCommand(event)) return event.key.toLowerCase() === "k" ? openPalette : null;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return null;
  return { "/": openPalette, "?": showKeys }[event.key] ?? null;
}

/** Do what the keys say that work everywhere: Ctrl+K and / open the palette, ? shows all keys. */
export function useKeys() {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      const run = wanted(event);
      if (!run) return;
      event.preventDefault();
      void run();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** The button: where one looks for a search. */
export function PaletteButton() {
  return html`<button type="button" class="palette-button" aria-keyshortcuts="Control+K" onClick=${openPalette}>
    <${Icon} name="search" /><span>${text("app.palette_hint")}</span><kbd>${keysLabel(KEYS)}</kbd>
  </button>`;
}
