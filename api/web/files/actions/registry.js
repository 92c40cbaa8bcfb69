/** What can be done with items: the entries of menus and of the toolbar. */

import { goToFolder } from "../../shared/location.js";
import { hasScope } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { onItems } from "./bulk.js";
import * as operations from "./operations.js";

/** @typedef {import("../list/items/ordering.js").Item} Item */
/** @typedef {import("../list/items/belonging.js").Kind} Kind */

/**
 * @typedef {object} Action
 * @property {string} id its words are those of `files.action.` with it
 * @property {string} icon
 * @property {number} group entries of one group stand together
 * @property {string} [keys]
 * @property {boolean} [danger]
 * @property {boolean} [isMain] has a button of its own while items are chosen
 * @property {(items: Item[], kind: Kind) => boolean} isOffered
 * @property {(items: Item[]) => void} run
 */

const isOne = (/** @type {Item[]} */ items) => items.length === 1;
const isLive = (/** @type {Item[]} */ items) => items.every((item) => !item.trashed_at);
const mayWrite = (/** @type {Item[]} */ items) =>
  hasScope("write") && items.every((item) => item.role !== "viewer" && item.parent_id !== null);
const isOneFile = (/** @type {Item[]} */ items) => isOne(items) && isLive(items) && items[0].kind === "file";
/** Whether somebody else shared this very item with the person, and not a folder above. @param {Item} item */
const isShareOfOthers = (item) => item.role !== "owner" && item.parent_id === null;

/** @type {Action[]} */
const actions = [
  {
    id: "open",
    icon: "right",
    group: 0,
    keys: "Enter",
    isOffered: (items) => isOne(items) && isLive(items),
    run: (items) => operations.openItem(items[0]),
  },
  {
    id: "show_in_folder",
    icon: "folder",
    group: 0,
    isOffered: (items, kind) => isOne(items) && isLive(items) && kind !== "folder" && items[0].parent_id !== null,
    run: (items) => goToFolder(/** @type {string} */ (items[0].parent_id)),
  },
  { id: "ask", icon: "chat", group: 1, isMain: true, isOffered: isLive, run: (items) => operations.askAbout(items) },
  { id: "summarise", icon: "spark", group: 1, isOffered: isLive, run: (items) => operations.askAbout(items, true) },
  {
    id: "share",
    icon: "share",
    group: 2,
    isMain: true,
    isOffered: (items) => isOne(items) && isLive(items) && hasScope("share"),
    run: (items) => void import("../sharing/share.js").then((module) => module.openShare(items[0])),
  },
  { id: "download", icon: "download", group: 2, isMain: true, isOffered: isLive, run: operations.download },
  {
    id: "rename",
    icon: "edit",
    group: 3,
    keys: "F2",
    isOffered: (items) => isOne(items) && isLive(items) && mayWrite(items),
    run: (items) => operations.beginRename(items[0]),
  },
  {
    id: "move",
    icon: "folder",
    group: 3,
    isMain: true,
    isOffered: (items) => isLive(items) && mayWrite(items),
    run: (items) => void operations.toFolder(items, "move"),
  },
  {
    id: "copy",
    icon: "copy",
    group: 3,
    isOffered: (items) => isLive(items) && hasScope("write"),
    run: (items) => void operations.toFolder(items, "copy"),
  },
  {
    id: "star",
    icon: "star",
    group: 3,
    isOffered: (items) => isLive(items) && items.some((item) => !item.starred),
    run: (items) => void onItems("star", items),
  },
  {
    id: "unstar",
    icon: "star",
    group: 3,
    isOffered: (items) => isLive(items) && items.every((item) => item.starred),
    run: (items) => void onItems("unstar", items),
  },
  {
    id: "versions",
    icon: "history",
    group: 4,
    isOffered: isOneFile,
    run: (items) => void import("../versions/versions.js").then((module) => module.openVersions(items[0])),
  },
  {
    id: "details",
    icon: "info",
    group: 4,
    isOffered: isOne,
    run: (items) => void import("../details/details.js").then((module) => module.openDetails(items[0])),
  },
  {
    id: "trash",
    icon: "trash",
    group: 5,
    keys: "Del",
    danger: true,
    isMain: true,
    isOffered: (items) => isLive(items) && mayWrite(items) && hasScope("delete"),
    run: (items) => void onItems("trash", items),
  },
  {
    id: "leave",
    icon: "close",
    group: 5,
    danger: true,
    isOffered: (items) => isOne(items) && isLive(items) && isShareOfOthers(items[0]) && hasScope("share"),
    run: (items) => void operations.leave(items[0]),
  },
  {
    id: "restore",
    icon: "restore",
    group: 5,
    isMain: true,
    isOffered: (items) => !isLive(items) && hasScope("write"),
    run: (items) => void onItems("restore", items),
  },
  {
    id: "delete",
    icon: "trash",
    group: 6,
    danger: true,
    isMain: true,
    isOffered: (items) => !isLive(items) && hasScope("delete"),
    run: (items) => void operations.deleteForGood(items),
  },
];

/** Return what can be done with items in a list. @param {Item[]} items @param {Kind} kind */
export const actionsFor = (items, kind) => (items.length ? actions.filter((one) => one.isOffered(items, kind)) : []);

/** Do one of the actions, if it is offered. @param {string} id @param {Item[]} items @param {Kind} kind */
export function act(id, items, kind) {
  actionsFor(items, kind)
    .find((one) => one.id === id)
    ?.run(items);
}

/** The words of an action. @param {Action} action */
export const titleOf = (action) => text(`files.action.${action.id}`);

/** Return the entries of a menu, a line between groups. @param {Item[]} items @param {Kind} kind */
export function menuOf(items, kind) {
  const offered = actionsFor(items, kind);
  return offered.flatMap((action, index) => {
    const entry = {
      title: titleOf(action),
      icon: action.icon,
      keys: action.keys,
      danger: action.danger,
      run: () => action.run(items),
    };
    return index && offered[index - 1].group !== action.group ? [{}, entry] : [entry];
  });
}
