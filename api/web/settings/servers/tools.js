/** The tools of a server: which are used, which need no question, and what changed. */

import { put } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Diff } from "../../shared/components/diff.js";
import { html, useState } from "../../shared/preact.js";
import { hasScope } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { Nothing, Part, attempt } from "../form/section.js";

/** @typedef {import("../../shared/api/types.js").Schema<"ToolView">} Tool */
/** @typedef {import("../../shared/api/types.js").Schema<"ToolList">} ToolList */
/** @typedef {import("./change.js").Server} ServerView */

/** @param {{server: ServerView, list: ToolList, onChange: (list: ToolList) => void}} properties */
export function Tools({ server, list, onChange }) {
  const decide = (/** @type {Record<string, any>} */ decision) =>
    attempt(async () => onChange(await put(`/api/mcp-servers/${server.id}/tools`, { tools: [decision] })));
  return html`<${Part} title=${text("servers.tools")} hint=${text("servers.tools_hint")}>
    ${list.sentence && server.status !== "error" && html`<p class="settings-warning">${list.sentence}</p>`}
    ${!list.items.length && html`<${Nothing}>${text("servers.no_tools")}<//>`}
    <ul class="settings-list">
      ${list.items.map((tool) => html`<${Row} key=${tool.name} tool=${tool} decide=${decide} />`)}
    </ul>
  <//>`;
}

/** @param {{tool: Tool, decide: (decision: Record<string, any>) => Promise<boolean>}} properties */
function Row({ tool, decide }) {
  const { name } = tool;
  return html`<li class="settings-tool">
    <p class="settings-entry-title">
      <bdi>${tool.displayName || name}</bdi>
      ${tool.changed && html` <span class="settings-badge warning">${text("servers.changed")}</span>`}
    </p>
    ${tool.description && html`<p class="settings-small settings-verbatim">${tool.description}</p>`}
    ${
      tool.changed
        ? html`<${Changed} tool=${tool} onAccept=${() => decide({ name, accept: tool.hash })} />`
        : html`<div class="row">
            <${Switch}
              tool=${tool}
              label="servers.enabled"
              on=${tool.isEnabled}
              turn=${(/** @type {boolean} */ on) => decide({ name, isEnabled: on })}
            />
            <${Switch}
              tool=${tool}
              label="servers.auto_approve"
              on=${tool.isAutoApprove}
              disabled=${!tool.isEnabled || !hasScope("delete")}
              turn=${(/** @type {boolean} */ on) => decide({ name, isAutoApprove: on })}
            />
          </div>`
    }
  </li>`;
}

/** @param {{tool: Tool, label: "servers.enabled" | "servers.auto_approve", on: boolean, disabled?: boolean, turn: (on: boolean) => Promise<boolean>}} properties */
function Switch({ tool, label, on, disabled = false, turn }) {
  // Kept until the service has answered: the card may be drawn anew meanwhile, by what its server tells.
  const [wanted, setWanted] = useState(/** @type {boolean | null} */ (null));
  const change = async (/** @type {Event} */ event) => {
    const { checked } = /** @type {HTMLInputElement} */ (event.currentTarget);
    setWanted(checked);
    await turn(checked);
    setWanted(null);
  };
  return html`<label class="settings-tick"
    ><input type="checkbox" role="switch" checked=${wanted ?? on} disabled=${disabled} onChange=${change} /><span
      >${text(label)}<span class="hidden"> ${tool.displayName || tool.name}</span></span
    ></label
  >`;
}

/** @param {{tool: Tool, onAccept: () => void}} properties */
function Changed({ tool, onAccept }) {
  return html`<p>${text("servers.changed_hint")}</p>
    ${tool.difference.map(
      (part) =>
        html`<p class="settings-small">${text(`servers.part.${part.field}`)}</p>
          <${Diff}
            label=${text("servers.difference", { part: text(`servers.part.${part.field}`), name: tool.name })}
            before=${part.before}
            after=${part.after}
          />`,
    )}
    <div class="row">
      <${Button} kind="main" onClick=${onAccept}>${text("servers.accept")}<span class="hidden"> ${tool.name}</span><//>
    </div>`;
}
