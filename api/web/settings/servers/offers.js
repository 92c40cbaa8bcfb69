/** What a server offers beside tools: resources, and prompts for the composer. */

import { askAbout } from "../../shared/attachments.js";
import { get, post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { html, useState } from "../../shared/preact.js";
import { side } from "../../shared/sides.js";
import { text } from "../../shared/texts/texts.js";
import { Field, valueOf } from "../form/form.js";
import { FormDialog } from "../form/form_dialog.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Entry, Part } from "../form/section.js";

/** @typedef {import("../../shared/api/types.js").Schema<"PromptView">} Prompt */
/** @typedef {import("../../shared/api/types.js").Schema<"ResourceView">} Resource */
/** @typedef {import("./change.js").Server} ServerView */

/** @param {{server: ServerView}} properties */
export function Offers({ server }) {
  const path = `/api/mcp-servers/${server.id}`;
  const offers = useLoaded(async () => {
    const [resources, prompts] = await Promise.all([get(`${path}/resources`), get(`${path}/prompts`)]);
    return { resources: /** @type {Resource[]} */ (resources.items), prompts: /** @type {Prompt[]} */ (prompts.items) };
  });
  const use = (/** @type {Prompt} */ prompt) =>
    showDialog((close) => html`<${Fill} path=${`${path}/prompts`} prompt=${prompt} close=${close} />`);
  return html`<${Loaded} of=${offers}>
    ${(/** @type {{resources: Resource[], prompts: Prompt[]}} */ { resources, prompts }) => html`
      ${
        prompts.length > 0 &&
        html`<${Part} title=${text("servers.prompts")} hint=${text("servers.prompts_hint")}>
          <ul class="settings-list">
            ${prompts.map(
              (one) =>
                html`<${Entry}
                  key=${one.name}
                  title=${one.name}
                  facts=${[one.description]}
                  actions=${html`<${Button} onClick=${() => use(one)}
                    >${text("servers.use_prompt")}<span class="hidden"> ${one.name}</span><//
                  >`}
                />`,
            )}
          </ul>
        <//>`
      }
      ${
        resources.length > 0 &&
        html`<${Part} title=${text("servers.resources")}>
          <ul class="settings-list">
            ${resources.map(
              (one) =>
                html`<${Entry}
                  key=${one.uri}
                  title=${one.name}
                  facts=${[html`<code>${one.uri}</code>`, one.description]}
                />`,
            )}
          </ul>
        <//>`
      }
    `}
  <//>`;
}

/** @param {{path: string, prompt: Prompt, close: () => void}} properties */
function Fill({ path, prompt, close }) {
  const [filled, setFilled] = useState("");
  const fill = async (/** @type {FormData} */ fields) => {
    const given = prompt.arguments
      .map((name) => [name, valueOf(fields, `argument-${name}`)])
      .filter(([, value]) => value);
    setFilled((await post(path, { name: prompt.name, arguments: Object.fromEntries(given) })).text);
  };
  const take = () => {
    askAbout([], filled);
    side.value = "chat";
    close();
  };
  if (filled)
    return html`<${Dialog}
      title=${prompt.name}
      onClose=${() => close()}
      footer=${html`<${Button} onClick=${() => close()}>${text("shared.cancel")}<//>
        <${Button} kind="main" autofocus onClick=${take}>${text("servers.take_prompt")}<//>`}
    >
      <p>${text("servers.read_prompt")}</p>
      <p class="settings-verbatim settings-nothing" tabindex="0">${filled}</p>
    <//>`;
  return html`<${FormDialog} title=${prompt.name} action=${text("servers.show_prompt")} onSave=${fill} onClose=${close}>
    ${prompt.description && html`<p>${prompt.description}</p>`}
    ${prompt.arguments.map(
      (name) => html`<${Field} name=${`argument-${name}`} label=${name} required=${prompt.required.includes(name)} />`,
    )}
  <//>`;
}
