/** The question what to do with a file whose name is taken. */

import { Button } from "../../shared/components/button.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/**
 * Ask the person. Closing the dialog leaves the file out.
 * @param {import("./upload.js").Upload} upload
 * @param {number} others how many more of the same choice may meet a taken name
 * @returns {Promise<import("./queue.js").Answer>}
 */
export async function askAboutName(upload, others) {
  const answer = await showDialog((close) => html`<${Conflict} upload=${upload} others=${others} onAnswer=${close} />`);
  return answer ?? { choice: "skip", forAll: false };
}

/** @param {{upload: import("./upload.js").Upload, others: number, onAnswer: (answer?: any) => void}} properties */
function Conflict({ upload, others, onAnswer }) {
  const [forAll, setForAll] = useState(false);
  const details = upload.problem.value?.details ?? {};
  const isFolder = details.existing_kind === "folder";
  const choose = (/** @type {string} */ choice) => () => onAnswer({ choice, forAll });
  const footer = html`
    <${Button} onClick=${choose("skip")}>${text("uploads.conflict.skip")}<//>
    ${!isFolder && html`<${Button} onClick=${choose("replace")}>${text("uploads.conflict.replace")}<//>`}
    <${Button} kind="main" autofocus onClick=${choose("rename")}>${text("uploads.conflict.rename")}<//>
  `;
  return html`<${Dialog} title=${text("uploads.conflict.title")} onClose=${() => onAnswer()} footer=${footer}>
    <p>
      ${text(isFolder ? "uploads.conflict.folder" : "uploads.conflict.file")} <strong><bdi>${upload.name}</bdi></strong>
    </p>
    <ul class="conflict-choices">
      <li>${text("uploads.conflict.rename_means", { name: details.suggestion ?? "" })}</li>
      ${!isFolder && html`<li>${text("uploads.conflict.replace_means")}</li>`}
    </ul>
    ${
      others > 0 &&
      html`<label class="row">
        <input type="checkbox" checked=${forAll} onChange=${() => setForAll(!forAll)} />
        ${text("uploads.conflict.for_all", { count: others })}
      </label>`
    }
  <//>`;
}
