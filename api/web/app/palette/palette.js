/** The command palette. */

import { Dialog } from "../../shared/components/dialogs.js";
import { commandSources } from "../../shared/commands.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @param {{onClose: (result?: any) => void}} properties */
export function Palette({ onClose }) {
  const commands = commandSources.value.flatMap((source) => source());
  return html`<${Dialog} title=${text("app.palette_hint")} onClose=${onClose}>
    ${commands.map((command) => html`<button type="button" onClick=${command.run}>${command.title}</button>`)}
  <//>`;
}
