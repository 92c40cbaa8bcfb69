/** Who is signed in. */

import { get, patch, post } from "./api/request.js";
import { forgetPerson, keepFor } from "./kept.js";
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

/** End the session, and leave nothing of the person in this browser. Throws `Problem`. @param {{everywhere?: boolean}} [options] */
export async function signOut({ everywhere = false } = {}) {
  await post(`/api/auth/logout${everywhere ? "?everywhere=true" : ""}`, undefined, { anonymous: true }).catch(
    (problem) => {
      // A session that is over already is what was asked for.
      if (problem.status !== 401) throw problem;
    },
  );
  forgetPerson();
  // The place is the person's too: what follows the service's address in the browser's line.
  history.replaceState(null, "", location.pathname);
  location.reload();
}

/** @param {Me} person */
async function becomePerson(person) {
  keepFor(person.id);
  timeZone.value = person.time_zone;
  if (person.language === "en" || person.language === "zh") await changeLanguage(person.language);
  me.value = person;
}
