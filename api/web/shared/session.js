/** Who is signed in. */

import { get, patch } from "./api/request.js";
import { computed, signal } from "./preact.js";
import { timeZone } from "./texts/format.js";
import { changeLanguage } from "./texts/texts.js";

/** @typedef {import("./api/types.js").Schema<"MeResult">} Me */

/** @type {import("../vendor/signals.js").Signal<Me | null>} */
export const me = signal(null);

/** The token of the link by which a guest is here, who is nobody with an account; empty for everybody else. */
export const guestToken = typeof location === "undefined" ? "" : (/^\/s\/([^/]+)/.exec(location.pathname)?.[1] ?? "");

/** @param {string} scope */
export const hasScope = (scope) => Boolean(me.value?.scopes.includes(scope));

export const isAdministrator = computed(() => Boolean(me.value?.is_admin));

/** Ask the service who is signed in. Throws `Problem`. @param {{anonymous?: boolean}} [options] */
export async function loadMe(options) {
  await becomePerson(await get("/api/auth/me", {}, options));
}

/** Change what the person says of themselves. @param {{name?: string, time_zone?: string, language?: string}} change */
export async function changeProfile(change) {
  await becomePerson(await patch("/api/auth/me", change));
}

/** @param {Me} person */
async function becomePerson(person) {
  timeZone.value = person.time_zone;
  if (person.language === "en" || person.language === "zh") await changeLanguage(person.language);
  me.value = person;
}
