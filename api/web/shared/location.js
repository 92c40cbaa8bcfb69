/** Where the person is in the page: the part of the address after `#`, such as `#/folder/ID?thread=ID`. */

import { signal } from "./preact.js";

/**
 * @typedef {object} Place
 * @property {string[]} path `["folder", id]`, `["file", id]`, `["trash"]`, `["recent"]`, `["shared"]`, `["starred"]`,
 *   `["search"]`, `["changes"]`, `["settings", section]`
 * @property {Record<string, string>} query `thread` stays from place to place
 */

/** Kept from place to place unless a link says otherwise. */
const KEPT = ["thread"];

/**
 * @param {string} hash
 * @returns {Place}
 */
export function parsePlace(hash) {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  return { path: parts.length ? parts : ["folder", "root"], query: Object.fromEntries(new URLSearchParams(query)) };
}

/** @type {import("../vendor/signals.js").Signal<Place>} */
export const place = signal(parsePlace(typeof location === "undefined" ? "" : location.hash));

const ROOMS = ["settings", "changes"];
let files = ["folder", "root"];
place.subscribe(({ path }) => {
  if (isAmongFiles()) files = path;
});

/** Say whether files are shown, and no room in their place. */
export function isAmongFiles() {
  return !ROOMS.includes(place.peek().path[0]);
}

/** Return the place among the files that the person saw last. */
export const filesPlace = () => files;

if (typeof window !== "undefined") {
  addEventListener("hashchange", () => (place.value = parsePlace(location.hash)));
  addEventListener("popstate", () => (place.value = parsePlace(location.hash)));
}

/**
 * Return the address of a place, for links.
 * @param {string[]} path
 * @param {Record<string, string | number | null | undefined>} [query] null takes a kept value away
 */
export function href(path, query = {}) {
  const kept = Object.fromEntries(KEPT.map((name) => [name, place.value.query[name]]));
  const all = Object.entries({ ...kept, ...query }).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  const parameters = new URLSearchParams(all.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${parameters ? `?${parameters}` : ""}`;
}

/**
 * Go to a place.
 * @param {string[]} path
 * @param {Record<string, string | number | null | undefined>} [query]
 * @param {{replace?: boolean}} [options] replace: without a step back to where the person is now
 */
export function go(path, query = {}, { replace = false } = {}) {
  const target = href(path, query);
  if (target === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", target);
  place.value = parsePlace(target);
}

/** Show another thread beside the same files; null begins a new one. @param {string | null} id @param {{replace?: boolean}} [options] */
export function goToThread(id, options) {
  go(place.peek().path, { ...place.peek().query, thread: id }, options);
}

/** @param {string} id */
export const goToFolder = (id) => go(["folder", id]);

/**
 * Open a file, at a passage if `start` and `end` are named.
 * @param {string} id
 * @param {{version?: number, start?: number, end?: number, place?: string}} [passage]
 */
export const goToFile = (id, passage = {}) => go(["file", id], passage);
