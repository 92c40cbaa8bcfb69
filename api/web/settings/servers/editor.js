/** Where a server is, and what it is told. */

import { post, put } from "../../shared/api/request.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Field, Tick, valueOf } from "../form/form.js";
import { FormDialog } from "../form/form_dialog.js";
import { secretRows, serverChange } from "./change.js";
import { Secrets } from "./secrets.js";

/** @typedef {import("./change.js").Server} ServerView */

const TYPES = ["streamableHttp", "sse", "stdio"];

/** @param {{server?: ServerView, close: (result?: any) => void}} properties */
export function Editor({ server, close }) {
  const [type, setType] = useState(server?.type ?? "streamableHttp");
  const [headers, setHeaders] = useState(() => secretRows(server?.headers ?? {}));
  const [env, setEnv] = useState(() => secretRows(server?.env ?? {}));
  const isProgram = type === "stdio";
  const save = async (/** @type {FormData} */ fields) => {
    const change = serverChange(typedIn(fields), isProgram ? env : headers);
    close(await (server ? put(`/api/mcp-servers/${server.id}`, change) : post("/api/mcp-servers", change)));
  };
  return html`<${FormDialog}
    title=${server ? text("servers.edit_title", { name: server.name }) : text("servers.add")}
    action=${server ? text("settings.save") : text("servers.add_action")}
    onSave=${save}
    onClose=${close}
  >
    <${Field} name="name" label=${text("servers.name")} value=${server?.name} required autofocus />
    <${Field}
      name="type"
      label=${text("servers.type")}
      onChange=${(/** @type {Event} */ event) => setType(/** @type {any} */ (event.currentTarget).value)}
    >
      ${TYPES.map((one) => html`<option value=${one} selected=${one === type}>${text(`servers.type.${one}`)}</option>`)}
    <//>
    ${
      isProgram
        ? html`<${Program} key="program" server=${server} />`
        : html`<${Address} key="address" server=${server} />`
    }
    <${Secrets}
      key=${isProgram ? "env" : "headers"}
      title=${text(isProgram ? "servers.env" : "servers.headers")}
      rows=${isProgram ? env : headers}
      onChange=${isProgram ? setEnv : setHeaders}
    />
    <details>
      <summary>${text("servers.more")}</summary>
      <${More} server=${server} />
    </details>
    <${Tick} name="is_active" label=${text("servers.active")} checked=${server?.is_active ?? true} />
  <//>`;
}

/** @param {{server?: ServerView}} properties */
function Program({ server }) {
  return html`<${Field}
      name="command"
      label=${text("servers.command")}
      value=${server?.command}
      placeholder="uvx"
      required
    />
    <${Field} name="args" lines="3" label=${text("servers.args")} value=${server?.args.join("\n")} />`;
}

/** @param {{server?: ServerView}} properties */
function Address({ server }) {
  return html`<${Field}
    name="base_url"
    type="url"
    label=${text("servers.address")}
    hint=${server && text("servers.address_hint")}
    value=${server?.base_url}
    placeholder="https://example.com/mcp"
    required
  />`;
}

/** @param {{server?: ServerView}} properties */
function More({ server }) {
  return html`<${Field}
      name="timeout"
      type="number"
      min="1"
      max="3600"
      label=${text("servers.timeout")}
      value=${String(server?.timeout ?? 60)}
    />
    <fieldset class="settings-group">
      <legend>${text("servers.allows")}</legend>
      ${["sampling", "roots"].map(
        (one) =>
          html`<${Tick}
            name="allows"
            value=${one}
            label=${text(`servers.allows.${one}`)}
            checked=${server?.allows.some((allowed) => allowed === one)}
          />`,
      )}
    </fieldset>`;
}

/** @param {FormData} fields */
const typedIn = (fields) => ({
  name: valueOf(fields, "name"),
  type: valueOf(fields, "type"),
  isActive: fields.has("is_active"),
  timeout: valueOf(fields, "timeout"),
  address: valueOf(fields, "base_url"),
  command: valueOf(fields, "command"),
  args: valueOf(fields, "args"),
  allows: fields.getAll("allows").map(String),
});
