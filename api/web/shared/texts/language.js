/** The language of the page. */

import { signal } from "../preact.js";

/** @typedef {"en" | "zh"} Language */

const KEPT = "language";
/** BCP 47 tags, for `lang` and Intl. */
export const TAGS = { en: "en", zh: "zh-CN" };

/** @type {import("../../vendor/signals.js").Signal<Language>} */
export const language = signal(preferred());

/** @returns {Language} */
function preferred() {
  const kept = typeof localStorage === "undefined" ? null : localStorage.getItem(KEPT);
  if (kept === "en" || kept === "zh") return kept;
  const first = typeof navigator === "undefined" ? "en" : navigator.language;
  return first.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/**
 * Keep the language for the next visit of this browser.
 * @param {Language} chosen
 */
export function keepLanguage(chosen) {
  localStorage.setItem(KEPT, chosen);
}
