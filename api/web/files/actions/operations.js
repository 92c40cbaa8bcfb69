/** What a person does with items, beyond one action on many. */

import { askAbout as attachAndAsk } from "../../shared/attachments.js";
import { address } from "../../shared/api/request.js";
import { ask, confirm } from "../../shared/components/dialogs.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { goToFile, goToFolder } from "../../shared/location.js";
import { me } from "../../shared/session.js";
import { side } from "../../shared/sides.js";
import { text } from "../../shared/texts/texts.js";
import { listing } from "../list/items/shown.js";
import { clipboard, renaming, selection } from "../list/selection/chosen.js";
import { only } from "../list/selection/selection.js";
import { onItems } from "./bulk.js";
import { change } from "./own_changes.js";
import { tellDone } from "./reversal.js";

/** @typedef {import("../list/items/ordering.js").Item} Item */

/** @param {Item} item */
export function openItem(item) {
  if (item.trashed_at) notify(text("files.restore_to_open", { name: item.name }));
  else if (item.kind === "folder") goToFolder(item.id);
  else goToFile(item.id);
}

/** Attach items to the message that is written. @param {Item[]} items @param {boolean} [summarise] */
export function askAbout(items, summarise = false) {
  attachAndAsk(items, summarise ? text("files.summarise_words", { count: items.length }) : "", { send: summarise });
  side.value = "chat";
}

/** One file as it is, several items as a zip. @param {Item[]} items */
export function download(items) {
  const isOne = items.length === 1 && items[0].kind === "file";
  const link = document.createElement("a");
  link.href = isOne
    ? `/api/drive/files/${items[0].id}/content`
    : address("/api/drive/archive", { ids: items.map((item) => item.id) });
  link.download = isOne ? items[0].name : "";
  link.click();
}

/** How much of a name is what people change: all but its suffix. @param {{name: string, kind: string}} item */
export function stemLength({ name, kind }) {
  const dot = name.lastIndexOf(".");
  return kind === "file" && dot > 0 ? dot : name.length;
}

/** @param {Item} item @param {string} name @returns {Promise<boolean>} whether the name is the new one */
export async function rename(item, name) {
  if (name === item.name || !name) return true;
  try {
    const { result, changeId } = await change("PATCH", `/api/drive/items/${item.id}`, { json: { name } });
    listing.peek()?.take([result]);
    tellDone(text("files.done.rename", { from: item.name, to: result.name }), [changeId]);
    return true;
  } catch (problem) {
    notifyProblem(problem);
    return false;
  }
}

/** @param {Item} item */
export function beginRename(item) {
  selection.value = only(item.id);
  renaming.value = item.id;
}

/** @param {Item[]} items @param {"move" | "copy"} action */
export async function toFolder(items, action) {
  const { pickFolder } = await import("./picker/picker.js");
  const parentId = await pickFolder(items, action);
  if (parentId) await onItems(action, items, { parentId });
}

/** @param {Item[]} items */
export async function deleteForGood(items) {
  const count = items.length;
  const agreed = await confirm({
    title: text("files.delete_title", { count, name: items[0].name }),
    body: text("files.delete_body"),
    action: text("files.action.delete"),
    danger: true,
  });
  if (agreed) await onItems("delete", items);
}

/** End the person's own share of an item; its owner keeps it whole. @param {Item} item */
export async function leave(item) {
  const agreed = await confirm({
    title: text("files.leave_title", { name: item.name }),
    body: text("files.leave_body", { owner: item.owner }),
    action: text("files.action.leave"),
    danger: true,
  });
  if (!agreed) return;
  try {
    const who = encodeURIComponent(me.peek()?.email ?? "");
    const { changeId } = await change("DELETE", `/api/drive/items/${item.id}/shares/${who}`);
    tellDone(text("files.done.leave", { name: item.name }), [changeId]);
    await listing.peek()?.load({ quiet: true });
  } catch (problem) {
    notifyProblem(problem);
  }
}

/** Delete all that is in the trash. */
export async function emptyTrash() {
  const agreed = await confirm({
    title: text("files.empty_title"),
    body: text("files.delete_body"),
    action: text("files.empty_trash"),
    danger: true,
  });
  if (!agreed) return;
  try {
    const { result } = await change("DELETE", "/api/drive/trash");
    notify(text("files.done.delete", { count: result.count, name: result.items?.[0]?.name ?? "" }));
    await listing.peek()?.load({ quiet: true });
  } catch (problem) {
    notifyProblem(problem);
  }
}

/** @param {string} folderId */
export async function newFolder(folderId) {
  const name = await askName("new_folder", text("files.new_folder_name"));
  if (!name) return;
  await create("POST", "/api/drive/items", { json: { kind: "folder", name, parent_id: folderId } });
}

/** @param {string} folderId */
export async function newTextFile(folderId) {
  const name = await askName("new_text", `${text("files.new_text_name")}.md`);
  if (!name) return;
  const options = { query: { name, parent_id: folderId }, body: "", headers: { "content-type": "text/plain" } };
  await create("POST", "/api/drive/files", options);
}

/** @param {"new_folder" | "new_text"} what @param {string} value */
function askName(what, value) {
  const shown = new Set(
    listing
      .peek()
      ?.items.peek()
      .map((item) => item.name),
  );
  return ask({
    title: text(`files.action.${what}`),
    label: text("files.column.name"),
    value,
    selectTo: stemLength({ name: value, kind: what === "new_text" ? "file" : "folder" }),
    action: text("files.create"),
    check: (name) => (shown.has(name) ? text("files.name_taken") : ""),
  });
}

/** @param {string} method @param {string} path @param {import("../../shared/api/request.js").Options} options */
async function create(method, path, options) {
  try {
    const { result, changeId } = await change(method, path, options);
    listing.peek()?.take([result]);
    selection.value = only(result.id);
    tellDone(text("files.done.create", { name: result.name }), [changeId]);
  } catch (problem) {
    notifyProblem(problem);
  }
}

/** @param {Item[]} items @param {boolean} isCut */
export function take(items, isCut) {
  if (!items.length) return;
  clipboard.value = { items, isCut };
  notify(text(isCut ? "files.was_cut" : "files.was_copied", { count: items.length, name: items[0].name }));
}

/** Put what was cut or copied into a folder. @param {string} folderId */
export async function paste(folderId) {
  const held = clipboard.peek();
  if (!held) return;
  const { items, isCut } = held;
  const isHere = items.every((item) => item.parent_id === folderId);
  if (isCut) clipboard.value = null;
  if (isCut && isHere) return;
  await onItems(isCut ? "move" : "copy", items, { parentId: folderId });
}

/** Choose files or a folder of this machine, and send them. @param {string} folderId @param {boolean} [isFolder] */
export async function upload(folderId, isFolder = false) {
  const uploads = await import("../uploads/uploads.js");
  await (isFolder ? uploads.chooseFolder(folderId) : uploads.chooseFiles(folderId));
}
