/** One file of a link: shown where that costs the link nothing, downloaded, and replaced by who may. */

import { call } from "../../shared/api/request.js";
import { headersOf } from "../../shared/api/upload.js";
import { chooseOfDevice } from "../../shared/choose.js";
import { Button } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { Lazy } from "../../shared/components/lazy.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { html, useState } from "../../shared/preact.js";
import { shortDate, size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";

/** @typedef {import("./guest.js").Item} Item */

const loadViewer = () => import("../preview/viewer.js").then((module) => module.Viewer);
const WHOLE = { version: null, start: null, end: null, place: "" };

/** @param {{path: string, item: Item, onChange: () => void}} properties `path`: its route */
export function GuestFile({ path, item, onChange }) {
  return html`<p class="quiet">${size(item.size)} · ${shortDate(item.modified_at)}</p>
    <div class="row">
      <a class="button main" href=${`${path}/content`} download=${item.name}
        ><${Icon} name="download" />${text("guest.download")}</a
      >
      ${item.role === "editor" && html`<${Replace} path=${path} item=${item} onChange=${onChange} />`}
    </div>
    <${Shown} path=${path} item=${item} />`;
}

/** What is in it. A link that ends after some downloads shows no more than asked for: a look is one of them. @param {{path: string, item: Item}} properties */
function Shown({ path, item }) {
  const [wanted, setWanted] = useState(!item.is_limited);
  if (wanted)
    return html`<div class="guest-preview">
      <${Lazy} load=${loadViewer} item=${{ ...item, at: path }} passage=${WHOLE} asText=${false} />
    </div>`;
  return html`${item.has_thumbnail && html`<img class="guest-picture" src=${`${path}/thumbnail?size=1024`} alt=${item.name} />`}
    <p>
      <${Button} onClick=${() => setWanted(true)}>${text("guest.show")}<//>
      <span class="quiet"> ${text("guest.show_hint")}</span>
    </p>`;
}

/** @param {{path: string, item: Item, onChange: () => void}} properties */
function Replace({ path, item, onChange }) {
  const replace = async (/** @type {File[]} */ [file]) => {
    try {
      const headers = headersOf(file);
      await call("PUT", `${path}/content`, { body: file, headers, ifMatch: item.etag, anonymous: true });
      notify(text("guest.replaced", { name: item.name }));
    } catch (problem) {
      notifyProblem(problem);
    }
    // Also when another visitor was first: what is there now is shown.
    onChange();
  };
  const choose = () => chooseOfDevice({}, (files) => void replace(files));
  return html`<${Button} icon="upload" onClick=${choose}>${text("guest.replace")}<//>`;
}
