/** The places of the drive, and how full it is. */

import { Icon } from "../../shared/components/icon.js";
import { href, place } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { me } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { dropAction, dropTarget } from "../list/dragging.js";
import { listing } from "../list/items/shown.js";
import { Quota } from "./quota.js";

/** @typedef {"drive" | "shared" | "recent" | "starred" | "trash"} Name */

/** @type {Array<{name: Name, icon: string, path: string[]}>} */
export const PLACES = [
  { name: "drive", icon: "folder", path: ["folder", "root"] },
  { name: "shared", icon: "people", path: ["shared"] },
  { name: "recent", icon: "clock", path: ["recent"] },
  { name: "starred", icon: "star", path: ["starred"] },
  { name: "trash", icon: "trash", path: ["trash"] },
];

/** The places as links. */
export function Navigation() {
  const now = current();
  return html`<nav class="places" aria-label=${text("files.places")}>
    <ul>
      ${PLACES.map((one) => html`<li key=${one.name}><${PlaceLink} ...${one} isCurrent=${one.name === now} /></li>`)}
    </ul>
    <${Quota} />
  </nav>`;
}

/** In which place the person is: folders of others are below what they share. @returns {Name | null} */
function current() {
  const room = place.value.path[0];
  if (room === "folder") {
    const owner = listing.value?.folder.value?.owner;
    return owner && owner !== me.value?.email ? "shared" : "drive";
  }
  return PLACES.find((one) => one.path[0] === room)?.name ?? null;
}

/** @param {{name: Name, icon: string, path: string[], isCurrent: boolean}} properties */
function PlaceLink({ name, icon, path, isCurrent }) {
  const title = text(`files.place.${name}`);
  return html`<a href=${href(path)} aria-current=${isCurrent ? "page" : undefined} title=${title} ...${target(name)}>
    <${Icon} name=${icon} /><span>${title}</span>
  </a>`;
}

/** What dropping items on a place does. @param {Name} name */
function target(name) {
  if (name === "drive") return dropTarget(me.value?.root_id ?? "root");
  if (name === "trash") return dropTarget("trash", (event) => dropAction(event, "trash"));
  if (name === "starred") return dropTarget("starred", (event) => dropAction(event, "star"));
  return {};
}
