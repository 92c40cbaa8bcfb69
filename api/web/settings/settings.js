/** The settings: a list of sections, and the one that is open. */

import { Lazy } from "../shared/components/lazy.js";
import { go, href, place } from "../shared/location.js";
import { html } from "../shared/preact.js";
import { isAdministrator } from "../shared/session.js";
import { loadStyles } from "../shared/styles/load.js";
import { loadTexts, text } from "../shared/texts/texts.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/settings.css")]);

/** @type {Record<string, () => Promise<any>>} */
const SECTIONS = {
  profile: () => import("./profile/profile.js").then((module) => module.Profile),
  security: () => import("./security/security.js").then((module) => module.Security),
  keys: () => import("./keys/keys.js").then((module) => module.Keys),
  connect: () => import("./connect/connect.js").then((module) => module.Connect),
  mcp: () => import("./servers/servers.js").then((module) => module.Servers),
  assistants: () => import("./assistants/assistants.js").then((module) => module.Assistants),
  memory: () => import("./memory/memory.js").then((module) => module.Memory),
  grants: () => import("./grants/grants.js").then((module) => module.Grants),
  notices: () => import("./notices/notices.js").then((module) => module.Notices),
};

/** Sections for administrators alone. @type {Record<string, () => Promise<any>>} */
const ADMINISTRATION = {
  people: () => import("./people/people.js").then((module) => module.People),
  groups: () => import("./groups/groups.js").then((module) => module.Groups),
};

/** What stands in the place of the files. */
export function Settings() {
  const sections = isAdministrator.value ? { ...SECTIONS, ...ADMINISTRATION } : SECTIONS;
  const wanted = place.value.path[1] ?? "";
  const name = wanted in sections ? wanted : "profile";
  return html`<div class="settings">
    <div class="settings-frame">
      <nav class="settings-nav" aria-label=${text("settings.title")}>
        ${Object.keys(sections).map(
          (one) =>
            html`<a href=${href(["settings", one])} aria-current=${one === name ? "page" : undefined}
              >${text(`settings.section.${one}`)}</a
            >`,
        )}
      </nav>
      <label class="settings-choice"
        ><span class="hidden">${text("settings.title")}</span>
        <select onChange=${(/** @type {Event} */ event) => go(["settings", valueOf(event)])}>
          ${Object.keys(sections).map(
            (one) => html`<option value=${one} selected=${one === name}>${text(`settings.section.${one}`)}</option>`,
          )}
        </select>
      </label>
      <div class="settings-shown"><${Lazy} key=${name} load=${sections[name]} /></div>
    </div>
  </div>`;
}

/** @param {Event} event */
const valueOf = (event) => /** @type {HTMLSelectElement} */ (event.currentTarget).value;
