/** How to use the drive from other programs: by MCP, and as a folder by WebDAV. */

import { post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { announce } from "../../shared/components/notices.js";
import { html, useState } from "../../shared/preact.js";
import { hasScope } from "../../shared/session.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Copyable, Part, Section, attempt } from "../form/section.js";
import { PROGRAMS, SCOPES_BY_KIND, wantsEncryption } from "./snippets.js";

await loadTexts(import.meta.url);

/** @typedef {import("./snippets.js").Program} Program */

const DAYS = 90;
const PLACEHOLDER = "KEY";

/** The section. */
export function Connect() {
  return html`<${Section} title=${text("settings.section.connect")} hint=${text("connect.hint")}>
    <${Programs} kind="mcp" title=${text("connect.mcp")} />
    <${Programs} kind="files" title=${text("connect.files")} />
  <//>`;
}

/** @param {{kind: "mcp" | "files", title: string}} properties */
function Programs({ kind, title }) {
  const programs = PROGRAMS.filter((one) => one.kind === kind);
  const [chosen, choose] = useState(programs[0]);
  return html`<${Part} title=${title} hint=${text(`connect.hint.${kind}`)}>
    <div class="settings-programs" role="group" aria-label=${title}>
      ${programs.map(
        (one) =>
          html`<button type="button" aria-pressed=${one === chosen ? "true" : "false"} onClick=${() => choose(one)}>
            ${one.name}
          </button>`,
      )}
    </div>
    <${HowTo} key=${chosen.id} program=${chosen} />
  <//>`;
}

/** @param {{program: Program}} properties */
function HowTo({ program }) {
  const [key, setKey] = useState("");
  const { origin } = location;
  const make = () =>
    attempt(async () => {
      const scopes = SCOPES_BY_KIND[program.kind].filter(hasScope);
      const made = await post("/api/auth/keys", { name: program.name, scopes, days: DAYS });
      setKey(made.key);
      announce(text("connect.made"));
    });
  return html`<div class="settings-how">
    <p>${text(`connect.how.${program.id}`)}</p>
    ${wantsEncryption(program.id, origin) && html`<p class="settings-warning">${text("connect.https_only")}</p>`}
    <${Copyable}
      key=${key}
      label=${text("connect.snippet", { name: program.name })}
      value=${program.snippet(origin, key || PLACEHOLDER)}
    />
    ${
      key
        ? html`<div class="settings-secret">
            <p>${text("connect.made")}</p>
            ${
              !program.snippet(origin, key).includes(key) &&
              html`<${Copyable} label=${text("connect.key")} value=${key} />`
            }
          </div>`
        : html`<div class="row">
            <${Button} kind="main" icon="key" onClick=${make}>${text("connect.make", { name: program.name })}<//>
            <span class="settings-small"
              >${text("connect.make_hint", {
                scopes: SCOPES_BY_KIND[program.kind]
                  .filter(hasScope)
                  .map((one) => text(`connect.scope.${one}`))
                  .join(", "),
                count: DAYS,
              })}</span
            >
          </div>`
    }
  </div>`;
}
