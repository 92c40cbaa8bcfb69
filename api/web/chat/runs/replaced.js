/** What the version of a message that was replaced did in the drive: it stays, unless it is taken back here. */

import { post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @param {{run: {run_id: string, groups: Array<{text: string}>, undo: string}}} properties */
export function Replaced({ run }) {
  const [undone, setUndone] = useState(false);
  const undo = async () => {
    try {
      const { skipped } = await post(`/api/runs/${run.run_id}/undo`);
      setUndone(true);
      notify([text("chat.replaced.undone"), ...skipped.map((/** @type {any} */ one) => one.text)].join(" "));
    } catch (problem) {
      notifyProblem(problem);
    }
  };
  return html`<aside class="replaced">
    <p>${text("chat.replaced")}</p>
    <ul>
      ${run.groups.map((group) => html`<li>${group.text}</li>`)}
    </ul>
    ${undone ? html`<p class="quiet">${text("chat.replaced.undone")}</p>` : html`<${Button} icon="undo" onClick=${undo}>${text("chat.replaced.undo")}<//>`}
  </aside>`;
}
