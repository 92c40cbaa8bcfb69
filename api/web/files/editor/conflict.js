/** The file was changed by somebody else meanwhile: what is different, and what to do. */

import { Button } from "../../shared/components/button.js";
import { Diff } from "../../shared/components/diff.js";
import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/**
 * @param {object} properties
 * @param {string} properties.mine
 * @param {import("./stored.js").Stored} properties.theirs
 * @param {() => void} properties.onKeepMine
 * @param {() => void} properties.onTakeTheirs
 * @param {() => void} properties.onMerge
 */
export function Conflict({ mine, theirs, onKeepMine, onTakeTheirs, onMerge }) {
  return html`<section class="editor-conflict" aria-labelledby="conflict-title">
    <div class="conflict-words" role="alert">
      <${Icon} name="warning" />
      <div>
        <h3 id="conflict-title">${text("editor.conflict.title")}</h3>
        <p>${text("editor.conflict.body", { version: theirs.version })}</p>
      </div>
    </div>
    <div class="row">
      <${Button} kind="main" icon="edit" onClick=${onMerge}>${text("editor.conflict.merge")}<//>
      <${Button} onClick=${onKeepMine}>${text("editor.conflict.mine")}<//>
      <${Button} onClick=${onTakeTheirs}>${text("editor.conflict.theirs")}<//>
    </div>
    <${Diff} label=${text("editor.conflict.difference")} before=${theirs.text} after=${mine} />
  </section>`;
}
