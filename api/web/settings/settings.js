/** The settings: a list of sections, and the one that is open. */

import { Icon } from "../shared/components/icon.js";
import { Lazy } from "../shared/components/lazy.js";
import { filesPlace, go, href, place } from "../shared/location.js";
import { html } from "../shared/preact.js";
import { loadStyles } from "../shared/styles/load.js";
import { loadTexts, text } from "../shared/texts/texts.js";
import { useTitle } from "../shared/title.js";
import { sections } from "./sections.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/settings.css")]);

/** What stands in the place of the files. */
export function Settings() {
  const all = sections();
  const wanted = place.value.path[1] ?? "";
  const name = wanted in all ? wanted : "profile";
  useTitle(text(`settings.section.${name}`));
  return html`<div class="settings">
    <div class="settings-frame">
      <a class="settings-back" href=${href(filesPlace())}><${Icon} name="back" />${text("settings.back")}</a>
      <nav class="settings-nav" aria-label=${text("settings.title")}>
        ${Object.keys(all).map(
          (one) =>
            html`<a href=${href(["settings", one])} aria-current=${one === name ? "page" : undefined}
              >${text(`settings.section.${one}`)}</a
            >`,
        )}
      </nav>
      <label class="settings-choice"
        ><span class="hidden">${text("settings.title")}</span>
        <select onChange=${(/** @type {Event} */ event) => go(["settings", valueOf(event)])}>
          ${Object.keys(all).map(
            (one) => html`<option value=${one} selected=${one === name}>${text(`settings.section.${one}`)}</option>`,
          )}
        </select>
      </label>
      <div class="settings-shown"><${Lazy} key=${name} load=${all[name]} /></div>
    </div>
  </div>`;
}

/** @param {Event} event */
const valueOf = (event) => /** @type {HTMLSelectElement} */ (event.currentTarget).value;
