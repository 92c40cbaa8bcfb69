/** What opens the command palette: a button in the header, and Ctrl+K. */

import { Icon } from "../shared/components/icon.js";
import { showDialog } from "../shared/components/dialogs.js";
import { isCommand, isComposing, keysLabel } from "../shared/keys.js";
import { html, useEffect } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";

const KEYS = "Ctrl+K";
let isOpen = false;

/** Load the palette and show it. */
export async function openPalette() {
  if (isOpen) return;
  isOpen = true;
  const { Palette } = await import("./palette/palette.js");
  await showDialog((close) => html`<${Palette} onClose=${close} />`);
  isOpen = false;
}

/** Open the palette by its keys. */
export function usePaletteKey() {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (!isCommand(event) || event.key.toLowerCase() !== "k" || isComposing(event)) return;
      event.preventDefault();
      void openPalette();
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
