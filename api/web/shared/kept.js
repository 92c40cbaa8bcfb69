/** What this browser keeps for the person: drafts, words that were searched for, uploads that are not over. */

const PERSON = "person";
/** What belongs to the browser, whoever uses it. */
const OF_THE_BROWSER = ["theme", "language", "files-share", "files-look"];
const UPLOADS = "uploads";
/** Who is here, in this tab. */
let here = "";

/** Take away what was kept for anybody else. @param {string} id of the person who is here now */
export function keepFor(id) {
  if (typeof localStorage === "undefined") return;
  const before = localStorage.getItem(PERSON);
  if (before && before !== id) forgetPerson();
  localStorage.setItem(PERSON, id);
  here = id;
}

/** Leave nothing of the person for who uses this browser next. */
export function forgetPerson() {
  for (const key of Object.keys(localStorage)) if (!OF_THE_BROWSER.includes(key)) localStorage.removeItem(key);
  if (typeof indexedDB !== "undefined") indexedDB.deleteDatabase(UPLOADS);
}

// Who signs out in one tab has signed out in all.
globalThis.addEventListener?.("storage", ({ key, newValue }) => {
  if (key === PERSON && here && newValue !== here) location.reload();
});
