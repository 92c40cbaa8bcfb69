/** The keys that the page knows, in a dialog. */

import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { keysLabel } from "../../shared/keys.js";
import { html } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/keyboard.css")]);

/** The groups of keys, each with its rows: the keys, and the name of their text. @type {Record<string, Array<[string[], string]>>} */
const GROUPS = {
  everywhere: [
    [["Ctrl+K", "/"], "palette"],
    [["?"], "keys"],
    [["Esc"], "close"],
  ],
  list: [
    [["↑", "↓", "Home", "End"], "move"],
    [["Enter"], "open"],
    [["Space", "Shift+↑", "Shift+↓"], "select"],
    [["Ctrl+A"], "select_all"],
    [["F2"], "rename"],
    [["Delete"], "trash"],
    [["Ctrl+X", "Ctrl+C", "Ctrl+V"], "clipboard"],
    [["Ctrl+Z", "Ctrl+Shift+Z"], "undo"],
    [["Backspace", "Alt+↑"], "up"],
    [["Shift+F10"], "menu"],
  ],
  file: [
    [["←", "→"], "neighbour"],
    [["Ctrl+S"], "save"],
  ],
  message: [
    [["Enter"], "send"],
    [["Shift+Enter"], "line"],
  ],
};

/** Show them. */
export const showKeys = () => showDialog((close) => html`<${Keyboard} onClose=${close} />`);

/** @param {{onClose: () => void}} properties */
function Keyboard({ onClose }) {
  return html`<${Dialog} title=${text("keyboard.title")} class="keyboard" onClose=${onClose}>
    ${Object.entries(GROUPS).map(
      ([group, rows]) =>
        html`<section key=${group}>
          <h3>${text(`keyboard.group.${group}`)}</h3>
          <dl>${rows.map(([keys, name]) => html`<${Row} key=${name} keys=${keys} name=${name} />`)}</dl>
        </section>`,
    )}
  <//>`;
}

/** @param {{keys: string[], name: string}} properties */
function Row({ keys, name }) {
  return html`<div>
    <dt>${text(`keyboard.${name}`)}</dt>
    <dd>${keys.map((one) => html`<kbd key=${one}>${keysLabel(one)}</kbd> `)}</dd>
  </div>`;
}
