/** The person's MCP servers: all of them, or one with its tools. */

import { Button } from "../../shared/components/button.js";
import { showDialog } from "../../shared/components/dialogs.js";
import { Failure, Loading } from "../../shared/components/states.js";
import { go, href, place } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Nothing, Section } from "../form/section.js";
import { Card } from "./card.js";
import { Editor } from "./editor.js";
import { Import } from "./import.js";
import { failure, loadServers, servers, useServers } from "./known.js";
import { Server } from "./server.js";

await loadTexts(import.meta.url);

/** The section. */
export function Servers() {
  useServers();
  const id = place.value.path[2];
  const all = servers.value;
  const one = all?.find((server) => server.id === id);
  if (failure.value && !all) return html`<${Failure} error=${failure.value} onRetry=${loadServers} />`;
  if (!all) return html`<${Loading} />`;
  if (one) return html`<${Server} key=${one.id} server=${one} />`;
  return html`<${Section} title=${text("settings.section.mcp")} hint=${text("servers.hint")}>
    <div class="row">
      <${Button} kind="main" icon="plus" onClick=${add}>${text("servers.add")}<//>
      <${Button} icon="upload" onClick=${takeOver}>${text("servers.import")}<//>
    </div>
    ${id && html`<p role="status">${text("servers.gone")} <a href=${href(["settings", "mcp"])}>${text("servers.all")}</a></p>`}
    ${!all.length && html`<${Nothing}>${text("servers.none")}<//>`}
    <ul class="settings-cards">
      ${all.map((server) => html`<${Card} key=${server.id} server=${server} />`)}
    </ul>
  <//>`;
}

async function add() {
  const made = await showDialog((close) => html`<${Editor} close=${close} />`);
  if (!made) return;
  await loadServers();
  go(["settings", "mcp", made.id]);
}

async function takeOver() {
  await showDialog((close) => html`<${Import} close=${close} />`);
  await loadServers();
}
