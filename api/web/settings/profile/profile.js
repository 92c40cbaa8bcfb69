/** What the person says of themselves, and how the page looks to them. */

import { html } from "../../shared/preact.js";
import { changeProfile, me } from "../../shared/session.js";
import { size } from "../../shared/texts/format.js";
import { keepLanguage, language } from "../../shared/texts/language.js";
import { changeLanguage, loadTexts, text } from "../../shared/texts/texts.js";
import { theme } from "../../shared/theme.js";
import { Field, Form, valueOf } from "../form/form.js";
import { Part, Section } from "../form/section.js";
import { timeZones } from "./time_zones.js";

await loadTexts(import.meta.url);

/** The section. */
export function Profile() {
  const person = me.value;
  if (!person) return null;
  return html`<${Section} title=${text("settings.section.profile")} hint=${person.email}>
    <${Form} onSave=${save} action=${text("settings.save")} saved=${text("settings.saved")}>
      <${Field} name="name" label=${text("profile.name")} value=${person.name} autocomplete="name" />
      <${Field} name="language" label=${text("profile.language")}>
        <option value="en" selected=${language.value === "en"} lang="en">English</option>
        <option value="zh" selected=${language.value === "zh"} lang="zh">中文</option>
      <//>
      <${Field}
        name="time_zone"
        label=${text("profile.time_zone")}
        hint=${text("profile.time_zone_hint", { zone: browsersZone() })}
        value=${person.time_zone}
        list="time-zones"
        placeholder=${browsersZone()}
      />
      <datalist id="time-zones">${timeZones().map((zone) => html`<option value=${zone}></option>`)}</datalist>
    <//>
    <${Look} />
    <${Quota} used=${person.used_bytes} quota=${person.quota_bytes} />
  <//>`;
}

const browsersZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @param {FormData} fields */
async function save(fields) {
  const chosen = valueOf(fields, "language") === "zh" ? "zh" : "en";
  await changeProfile({
    name: valueOf(fields, "name"),
    language: chosen,
    time_zone: valueOf(fields, "time_zone").trim(),
  });
  keepLanguage(chosen);
  await changeLanguage(chosen);
}

/** The theme, of this browser. */
function Look() {
  /** @type {import("../../shared/theme.js").Theme[]} */
  const themes = ["system", "light", "dark"];
  return html`<${Part} title=${text("profile.theme")} hint=${text("profile.theme_hint")}>
    <div class="row" role="radiogroup" aria-label=${text("profile.theme")}>
      ${themes.map(
        (name) =>
          html`<label class="settings-tick"
            ><input
              type="radio"
              name="theme"
              checked=${theme.value === name}
              onChange=${() => (theme.value = name)}
            /><span>${text(`profile.theme.${name}`)}</span></label
          >`,
      )}
    </div>
  <//>`;
}

/** @param {{used: number, quota: number}} properties */
function Quota({ used, quota }) {
  const words = quota
    ? text("profile.quota_of", { used: size(used), quota: size(quota) })
    : text("profile.quota_free", { used: size(used) });
  return html`<${Part} title=${text("profile.quota")}>
    ${quota > 0 && html`<meter class="settings-meter" max=${quota} value=${used} aria-label=${text("profile.quota")}></meter>`}
    <p>${words}</p>
    <p class="settings-small">${text("profile.quota_hint")}</p>
  <//>`;
}
