/** The words of the page: each room has `texts/en.json` and `texts/zh.json`. */

import { batch, effect, signal } from "../preact.js";
import { TAGS, keepLanguage, language } from "./language.js";

/** @typedef {import("./language.js").Language} Language */
/** @typedef {Record<string, string | Record<string, string>>} Words */

/** @type {Map<string, Promise<void>>} */
const folders = new Map();
/** @type {import("../../vendor/signals.js").Signal<Words>} */
const words = signal({});

effect(() => {
  if (typeof document !== "undefined") document.documentElement.lang = TAGS[language.value];
});

/**
 * Load the words of a room, whose entry module awaits this.
 * @param {string} module its `import.meta.url`
 */
export function loadTexts(module) {
  const folder = new URL("./texts/", module).href;
  const loading = folders.get(folder) ?? fetchWords(folder, language.peek()).then(add);
  folders.set(folder, loading);
  return loading;
}

const add = (/** @type {Words} */ loaded) => void (words.value = { ...words.peek(), ...loaded });

/**
 * Speak another language from now on.
 * @param {Language} chosen
 */
export async function changeLanguage(chosen) {
  keepLanguage(chosen);
  if (chosen === language.peek()) return;
  const loaded = await Promise.all([...folders.keys()].map((folder) => fetchWords(folder, chosen)));
  batch(() => {
    words.value = Object.assign({}, ...loaded);
    language.value = chosen;
  });
}

/** @param {string} folder @param {Language} chosen @returns {Promise<Words>} */
async function fetchWords(folder, chosen) {
  const response = await fetch(`${folder}${chosen}.json`);
  if (!response.ok) throw new Error(`No texts in ${folder}`);
  return response.json();
}

/**
 * Return the words of a key; a component that calls it is drawn anew in another language.
 * @param {string} key
 * @param {Record<string, any>} [values] what stands in braces; `count` chooses the plural
 */
export function text(key, values = {}) {
  const found = words.value[key];
  if (found === undefined) return key;
  const form = typeof found === "string" ? found : plural(found, values.count);
  return form.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(shown(values[name])) : whole));
}

/** @param {any} value */
function shown(value) {
  return typeof value === "number" ? value.toLocaleString(TAGS[language.value]) : value;
}

/**
 * @param {Record<string, string>} forms
 * @param {number} count
 */
function plural(forms, count) {
  const category = new Intl.PluralRules(TAGS[language.value]).select(count);
  return forms[category] ?? forms.other ?? "";
}
