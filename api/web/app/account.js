/** The person's own button: settings, theme, language, signing out. */

import { IconButton } from "../shared/components/button.js";
import { openMenu } from "../shared/components/menus.js";
import { notifyProblem } from "../shared/components/notices.js";
import { go } from "../shared/location.js";
import { html } from "../shared/preact.js";
import { changeProfile, me, signOut } from "../shared/session.js";
import { language } from "../shared/texts/language.js";
import { changeLanguage, text } from "../shared/texts/texts.js";
import { theme } from "../shared/theme.js";

/** @typedef {import("../shared/theme.js").Theme} Theme */

/** Opens the menu of the account. */
export function AccountButton() {
  const label = text("app.account", { name: me.value?.name || me.value?.email || "" });
  const show = (/** @type {MouseEvent} */ event) =>
    openMenu(/** @type {Element} */ (event.currentTarget), items(), label);
  return html`<${IconButton} icon="person" label=${label} aria-haspopup="menu" onClick=${show} />`;
}

function items() {
  /** @type {Theme[]} */
  const themes = ["system", "light", "dark"];
  return [
    { title: text("app.settings"), icon: "settings", run: () => go(["settings", "profile"]) },
    { title: text("app.changes"), icon: "history", run: () => go(["changes"]) },
    {},
    ...themes.map((name) => ({
      title: text(`app.theme.${name}`),
      checked: theme.value === name,
      run: () => (theme.value = name),
    })),
    {},
    { title: "English", checked: language.value === "en", run: () => speak("en") },
    { title: "中文", checked: language.value === "zh", run: () => speak("zh") },
    {},
    { title: text("app.sign_out"), icon: "lock", run: () => void signOut().catch(notifyProblem) },
  ];
}

/** @param {"en" | "zh"} chosen */
async function speak(chosen) {
  await changeLanguage(chosen);
  await changeProfile({ language: chosen }).catch(notifyProblem);
}
