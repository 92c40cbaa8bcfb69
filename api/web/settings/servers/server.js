/** One server: its state, what can be done with it, and what it offers. */

import { get, post, put, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { showDialog } from "../../shared/components/dialogs.js";
import { notify } from "../../shared/components/notices.js";
import { Loading } from "../../shared/components/states.js";
import { go, href } from "../../shared/location.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Section, askAndDo, attempt } from "../form/section.js";
import { Status } from "./card.js";
import { whereIs } from "./change.js";
import { Editor } from "./editor.js";
import { loadServers } from "./known.js";
import { Offers } from "./offers.js";
import { SignIn } from "./sign_in.js";
import { Tools } from "./tools.js";

/** @typedef {import("./change.js").Server} ServerView */
/** @typedef {import("../../shared/api/types.js").Schema<"ToolList">} ToolList */
/** @typedef {import("../../shared/api/types.js").Schema<"ConnectionView">} Connection */

/** @param {{server: ServerView}} properties */
export function Server({ server }) {
  const path = `/api/mcp-servers/${server.id}`;
  const [tested, setTested] = useState(/** @type {Connection | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const tools = useLoaded(async () => /** @type {ToolList} */ (await get(`${path}/tools`)));
  const test = async () => {
    setBusy(true);
    await attempt(async () => setTested(await post(`${path}/connect`)));
    setBusy(false);
    await Promise.all([tools.reload(), loadServers()]);
  };
  const edit = async () => {
    if (!(await showDialog((close) => html`<${Editor} server=${server} close=${close} />`))) return;
    notify(text("settings.saved"));
    setTested(null);
    await Promise.all([tools.reload(), loadServers()]);
  };
  return html`<${Section}
    title=${html`<bdi>${server.name}</bdi> <${Status} server=${server} />`}
    hint=${html`<a href=${href(["settings", "mcp"])}>${text("servers.all")}</a>`}
  >
    <div>
      <p class="settings-small">${text(`servers.type.${server.type}`)}</p>
      <p class="settings-address"><code>${whereIs(server)}</code></p>
    </div>
    <div class="row">
      <${Button}
        kind="main"
        icon="restore"
        aria-disabled=${isBusy ? "true" : undefined}
        onClick=${() => !isBusy && test()}
        >${text("servers.test")}<//
      >
      <${Button} icon="edit" onClick=${edit}>${text("servers.edit")}<//>
      <${Button} onClick=${() => turn(server)}>${text(server.is_active ? "servers.turn_off" : "servers.turn_on")}<//>
      <${Button} kind="danger" icon="trash" onClick=${() => forget(server)}>${text("servers.delete")}<//>
    </div>
    ${isBusy && html`<${Loading} label=${text("servers.testing")} />`}
    ${!isBusy && tested && html`<${Tested} tested=${tested} />`}
    ${!tested && server.sentence && html`<p class="settings-wrong">${server.sentence}</p>`}
    <${SignIn} server=${server} code=${tested?.code ?? server.code} />
    <${Loaded} of=${tools}>
      ${(/** @type {ToolList} */ list) => html`<${Tools} server=${server} list=${list} onChange=${tools.setValue} />`}
    <//>
    ${server.status === "connected" && html`<${Offers} server=${server} />`}
  <//>`;
}

/** @param {{tested: Connection}} properties */
function Tested({ tested }) {
  if (tested.status === "error") return html`<${Broken} tested=${tested} />`;
  const counts = { tools: tested.tools.length, resources: tested.resources.length, prompts: tested.prompts.length };
  return html`<div class="settings-secret" role="status">
    <p>${text("servers.works", { name: tested.name ?? "", version: tested.version ?? "" })}</p>
    <p class="settings-small">${text("servers.offers", counts)}</p>
    ${
      tested.instructions &&
      html`<details>
        <summary>${text("servers.instructions")}</summary>
        <p class="settings-verbatim">${tested.instructions}</p>
      </details>`
    }
  </div>`;
}

/** Why a test failed; of a program that did not start, with its last lines. @param {{tested: Connection}} properties */
function Broken({ tested }) {
  return html`<div class="settings-wrong" role="alert">
    <p>${tested.sentence}</p>
    ${
      tested.last_lines &&
      html`<p class="settings-small">${text("servers.last_lines")}</p>
        <pre class="settings-verbatim">${tested.last_lines}</pre>`
    }
  </div>`;
}

/** @param {ServerView} server */
async function turn(server) {
  await attempt(() => put(`/api/mcp-servers/${server.id}`, { is_active: !server.is_active }));
  await loadServers();
}

/** @param {ServerView} server */
async function forget(server) {
  const done = await askAndDo({
    title: text("servers.delete_title", { name: server.name }),
    body: text("servers.delete_hint"),
    action: text("servers.delete"),
    act: () => remove(`/api/mcp-servers/${server.id}`),
    done: text("servers.deleted", { name: server.name }),
  });
  if (!done) return;
  await loadServers();
  go(["settings", "mcp"], {}, { replace: true });
}
