/** Bringing files into the drive: dropped or chosen, whole folders too, shown in the tray until they are there. */

import { get } from "../../shared/api/request.js";
import { chooseOfDevice } from "../../shared/choose.js";
import { announce, notifyProblem } from "../../shared/components/notices.js";
import { effect } from "../../shared/preact.js";
import { me } from "../../shared/session.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { tray } from "../../shared/tray.js";
import { askAboutName } from "./conflict.js";
import { forget, keep, left } from "./kept.js";
import { UploadQueue } from "./queue.js";
import { cleanFingerprints, foldersOf, send } from "./sender.js";
import { UploadTray } from "./tray.js";
import { treeOfDrop, treeOfFiles } from "./trees.js";
import { Upload } from "./upload.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/uploads.css")]);

/** @typedef {import("./upload.js").OnConflict} OnConflict */

const TRY_AGAIN = 5000;
const queue = new UploadQueue({ send, ask: askAboutName, signIn, onOver: forget });

cleanFingerprints();
addEventListener("online", () => queue.wake());
setInterval(() => queue.wake(), TRY_AGAIN);
addEventListener("beforeunload", (event) => {
  if (queue.totals.value.active) event.preventDefault();
});
effect(() => {
  tray.value = queue.list.value.length ? Shown : null;
});
let wasActive = 0;
effect(() => {
  const { active, done, failed } = queue.totals.value;
  if (wasActive && !active) announce(endOf(done, failed));
  wasActive = active;
});

function Shown() {
  return UploadTray({ queue });
}

/** @param {number} done @param {number} failed */
function endOf(done, failed) {
  const words = [done && text("uploads.done", { count: done }), failed && text("uploads.failed", { count: failed })];
  return words.filter(Boolean).join(" ");
}

/** A request that finds the session over asks the person to sign in. */
async function signIn() {
  await get("/api/auth/me");
  return true;
}

/**
 * Upload what was dropped on a folder, folders with all that is in them.
 * @param {DataTransfer} transfer
 * @param {string} folderId
 */
export async function uploadDropped(transfer, folderId) {
  await uploadTree(treeOfDrop(transfer), folderId);
}

/** Let the person choose files. @param {string} folderId */
export function chooseFiles(folderId) {
  chooseOfDevice({ multiple: true }, (files) => uploadTree(treeOfFiles(files), folderId));
}

/** Let the person choose a folder with all that is in it. @param {string} folderId */
export function chooseFolder(folderId) {
  chooseOfDevice({ webkitdirectory: true }, (files) => uploadTree(treeOfFiles(files), folderId));
}

/**
 * @param {Iterable<File>} files
 * @param {string} folderId
 */
export async function uploadFiles(files, folderId) {
  await uploadTree(treeOfFiles(files), folderId);
}

/**
 * Upload files under names that are free, and return those that came to be items, in their order.
 * @param {Iterable<File>} files
 * @param {string} folderId
 * @returns {Promise<import("../../shared/api/types.js").Schema<"ItemView">[]>}
 */
export async function uploadFor(files, folderId) {
  const uploads = await uploadTree(treeOfFiles(files), folderId, "rename");
  await Promise.all(uploads.map(untilOver));
  const done = uploads.filter((upload) => upload.itemId);
  return Promise.all(done.map((upload) => get(`/api/drive/items/${upload.itemId}`)));
}

/** Go on with what the page was about when it was closed or loaded again. */
export async function resumeUploads() {
  const uploads = await left(me.peek()?.id ?? "");
  queue.add(uploads);
}

/** @param {Upload} upload @returns {Promise<void>} */
function untilOver(upload) {
  return new Promise((resolve) => {
    const end = effect(() => {
      if (upload.isOver) queueMicrotask(() => (end(), resolve()));
    });
  });
}

/**
 * @param {import("./trees.js").Tree | Promise<import("./trees.js").Tree>} found
 * @param {string} folderId
 * @param {OnConflict} [onConflict]
 * @returns {Promise<Upload[]>}
 */
async function uploadTree(found, folderId, onConflict) {
  try {
    const tree = await found;
    const batch = { choice: /** @type {"" | OnConflict | "skip"} */ ("") };
    const chosen = tree.files.map(({ file, path }) => new Upload({ file, path, folderId, batch, onConflict }));
    const uploads = chosen.map((one) => lostOf(one) ?? one);
    const added = uploads.filter((one) => one.state.peek() !== "lost");
    for (const [index, upload] of uploads.entries()) {
      if (upload.state.peek() === "lost") queue.found(upload, /** @type {File} */ (chosen[index].file));
    }
    queue.add(added);
    await keep(added, me.peek()?.id ?? "");
    if (uploads.length) announce(text("uploads.started", { count: uploads.length }));
    await Promise.all(tree.folders.map((path) => foldersOf(batch).find(folderId, path)));
    return uploads;
  } catch (error) {
    notifyProblem(error);
    return [];
  }
}

/** A file that was chosen again, as the page forgot it, goes on where it stopped. @param {Upload} chosen */
function lostOf(chosen) {
  return queue.list.peek().find((upload) => upload.state.peek() === "lost" && upload.key === chosen.key);
}
