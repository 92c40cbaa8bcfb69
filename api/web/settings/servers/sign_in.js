/** Signing in to a server by OAuth, in a window of its service. */

import { Problem } from "../../shared/api/problem.js";
import { post, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { showDialog } from "../../shared/components/dialogs.js";
import { notifyProblem } from "../../shared/components/notices.js";
import { html, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Field, valueOf } from "../form/form.js";
import { FormDialog } from "../form/form_dialog.js";
import { Copyable, Part, attempt } from "../form/section.js";
import { loadServers } from "./known.js";

/** @typedef {import("./change.js").Server} ServerView */

/** @param {{server: ServerView, code?: string | null}} properties */
export function SignIn({ server, code }) {
  const [address, setAddress] = useState("");
  if (!server.signed_in && code !== "sign_in") return null;
  const path = `/api/mcp-servers/${server.id}/authorize`;
  const begin = async () => {
    // Opened within the click: later the browser would hold it back.
    const opened = open("about:blank", "_blank");
    try {
      const url = await addressOf(path, server);
      if (url && opened) {
        opened.opener = null;
        opened.location.replace(url);
      } else opened?.close();
      setAddress(url);
    } catch (error) {
      opened?.close();
      notifyProblem(error);
    }
  };
  const signOut = async () => {
    if (await attempt(() => remove(path), text("servers.signed_out"))) await loadServers();
  };
  return html`<${Part}
    title=${text("servers.sign_in")}
    hint=${text(server.signed_in ? "servers.signed_in" : "servers.sign_in_hint")}
  >
    <div class="row">
      <${Button} kind=${server.signed_in ? "" : "main"} onClick=${begin}>${text("servers.sign_in_action")}<//>
      ${server.signed_in && html`<${Button} onClick=${signOut}>${text("servers.sign_out")}<//>`}
    </div>
    ${
      address &&
      html`<p role="status">
        ${text("servers.sign_in_opened")}
        <a href=${address} target="_blank" rel="noopener">${text("servers.sign_in_address")}</a>
      </p>`
    }
  <//>`;
}

/**
 * @param {string} path
 * @param {ServerView} server
 * @returns {Promise<string>} "" if the person gave up
 */
async function addressOf(path, server) {
  try {
    return (await post(path)).url;
  } catch (error) {
    if (!(error instanceof Problem) || error.details.reason !== "not_registered") throw error;
    return (await showDialog((close) => html`<${OwnClient} path=${path} server=${server} close=${close} />`)) ?? "";
  }
}

/** For services that let no program register itself. @param {{path: string, server: ServerView, close: (url?: string) => void}} properties */
function OwnClient({ path, server, close }) {
  const save = async (/** @type {FormData} */ fields) => {
    const body = { client_id: valueOf(fields, "client_id"), client_secret: valueOf(fields, "client_secret") };
    close((await post(path, body)).url);
  };
  const back = `${location.origin}/api/mcp-servers/${server.id}/callback`;
  return html`<${FormDialog}
    title=${text("servers.client_title", { name: server.name })}
    action=${text("servers.sign_in_action")}
    onSave=${save}
    onClose=${close}
  >
    <p>${text("servers.client_hint")}</p>
    <${Copyable} label=${text("servers.client_back")} value=${back} />
    <${Field} name="client_id" label=${text("servers.client_id")} required />
    <${Field} name="client_secret" type="password" label=${text("servers.client_secret")} />
  <//>`;
}
