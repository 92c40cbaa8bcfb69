/** A server in the list, and its state in a word. */

import { href } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { whereIs } from "./change.js";

/** @typedef {import("./change.js").Server} ServerView */

/** @type {Record<string, string>} */
const LOOKS = { connected: "", connecting: "warning", disconnected: "quiet", error: "error" };

/** @param {{server: ServerView}} properties */
export function Card({ server }) {
  return html`<li class="settings-card">
    <p class="settings-entry-title">
      <a href=${href(["settings", "mcp", server.id])}><bdi>${server.name}</bdi></a> <${Status} server=${server} />
    </p>
    <p class="settings-small">${text(`servers.type.${server.type}`)}</p>
    <p class="settings-small settings-address"><code>${whereIs(server)}</code></p>
    ${server.sentence && html`<p class="settings-small">${server.sentence}</p>`}
  </li>`;
}

/** @param {{server: ServerView}} properties */
export function Status({ server }) {
  if (!server.is_active) return html`<span class="settings-badge quiet">${text("servers.status.off")}</span>`;
  return html`<span class=${`settings-badge ${LOOKS[server.status]}`}
    >${text(`servers.status.${server.status}`)}</span
  >`;
}
