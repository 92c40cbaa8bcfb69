/** Above an open file: its name, what can be done with it, and its neighbours. */

import { askAbout } from "../../shared/attachments.js";
import { Button, IconButton } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { openMenu } from "../../shared/components/menus.js";
import { go, goToFile, href } from "../../shared/location.js";
import { html, useEffect, useRef } from "../../shared/preact.js";
import { printSide } from "../../shared/printing.js";
import { side } from "../../shared/sides.js";
import { moment, size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { actionsFor, titleOf } from "../actions/registry.js";
import { contentAddress } from "./content.js";
import { isText, kindOf, mayEdit } from "./kinds.js";

/** @typedef {import("./kinds.js").Item} Item */
/** @typedef {import("../../shared/components/menus.js").MenuItem} MenuItem */
/** @typedef {import("./siblings.js").Neighbour} Neighbour */

/**
 * @param {object} properties
 * @param {Item} properties.item
 * @param {number} properties.version
 * @param {{previous: Neighbour | null, next: Neighbour | null}} properties.siblings
 */
export function PreviewHeader({ item, version, siblings }) {
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // Who comes from a list by keyboard has lost the row that had the focus.
    if (document.activeElement === document.body) title.current?.focus({ preventScroll: true });
  }, [item.id]);
  const own = ownActions(item, version);
  const more = (/** @type {any} */ event) =>
    openMenu(
      event.currentTarget,
      [...own, ...printing(item), {}, ...listed(item, IN_MENU), ...steps(siblings)],
      item.name,
    );
  const folder = item.trashed_at ? ["trash"] : item.parent_id ? ["folder", item.parent_id] : ["shared"];
  return html`<header class="preview-header">
    <a class="icon-button" href=${href(folder)} aria-label=${text("preview.back")} title=${text("preview.back")}
      ><${Icon} name="back"
    /></a>
    <div class="preview-title">
      <h2 ref=${title} tabindex="-1" title=${item.path}><bdi>${item.name}</bdi></h2>
      <span class="quiet">${size(item.size)} · ${moment(item.modified_at)}</span>
    </div>
    <${Neighbours} siblings=${siblings} />
    <div class="preview-actions">
      ${own.map((action) => html`<${IconButton} key=${action.title} icon=${action.icon} label=${action.title} onClick=${action.run} />`)}
    </div>
    <${IconButton} icon="more" label=${text("preview.actions")} aria-haspopup="menu" onClick=${more} />
    <${Button} icon="spark" class="ask-about" onClick=${() => ask(item)}>${text("preview.ask")}<//>
  </header>`;
}

/** @param {{siblings: {previous: Neighbour | null, next: Neighbour | null}}} properties */
function Neighbours({ siblings: { previous, next } }) {
  if (!previous && !next) return null;
  const button = (/** @type {string} */ icon, /** @type {string} */ key, /** @type {Neighbour | null} */ one) => {
    const label = text(key, { name: one?.name ?? "" });
    return html`<${IconButton}
      icon=${icon}
      label=${label}
      disabled=${!one}
      onClick=${() => one && goToFile(one.id)}
    />`;
  };
  return html`<div class="neighbours">
    ${button("left", "preview.previous", previous)} ${button("right", "preview.next", next)}
  </div>`;
}

/** Where there is no room for buttons, the menu leads to the neighbours. @param {{previous: Neighbour | null, next: Neighbour | null}} siblings @returns {MenuItem[]} */
function steps({ previous, next }) {
  /** @type {MenuItem[]} */
  const entries = [];
  if (previous)
    entries.push({
      title: text("preview.previous", { name: previous.name }),
      icon: "left",
      run: () => goToFile(previous.id),
    });
  if (next)
    entries.push({ title: text("preview.next", { name: next.name }), icon: "right", run: () => goToFile(next.id) });
  return entries.length ? [{}, ...entries] : [];
}

/** @param {Item} item */
function ask({ id, name }) {
  askAbout([{ id, kind: "file", name }]);
  side.value = "chat";
}

/** A field with more text than this is no pleasure in any browser, bytes. */
const MAX_EDITED = 2_000_000;

/** Of what the lists can do with a file, what fits one that is open. */
const IN_HEADER = ["share", "versions", "details"];
const IN_MENU = ["summarise", "move", "copy", "star", "unstar", "trash", "restore", "delete"];

/** @param {Item} item @param {number} version @returns {MenuItem[]} */
function ownActions(item, version) {
  const edit = { title: text("preview.edit"), icon: "edit", run: () => go(["file", item.id], { edit: 1 }) };
  const isNow = !item.trashed_at && version === item.version;
  const isEditable = isText(kindOf(item)) && mayEdit(item) && isNow && item.size <= MAX_EDITED;
  const load = { title: text("preview.download"), icon: "download", run: () => download(item, version) };
  return [...(isEditable ? [edit] : []), load, ...listed(item, IN_HEADER)];
}

/** Print what is shown; a PDF is printed by the browser's own viewer. @param {Item} item @returns {MenuItem[]} */
function printing(item) {
  const kind = kindOf(item);
  if (kind === "audio" || kind === "video") return [];
  const print = () => {
    const viewer = /** @type {HTMLIFrameElement | null} */ (document.querySelector(".pdf-view"));
    if (viewer?.contentWindow) viewer.contentWindow.print();
    else printSide("files");
  };
  return [{ title: text("preview.print"), icon: "print", run: print }];
}

/** @param {Item} item @param {string[]} ids @returns {MenuItem[]} */
function listed(item, ids) {
  const offered = actionsFor([item], item.trashed_at ? "trash" : "folder").filter((action) => ids.includes(action.id));
  return offered.map((action) => ({
    title: titleOf(action),
    icon: action.icon,
    danger: action.danger,
    run: () => action.run([item]),
  }));
}

/** @param {Item} item @param {number} version */
function download(item, version) {
  const link = Object.assign(document.createElement("a"), { href: contentAddress(item, version), download: item.name });
  link.click();
}
