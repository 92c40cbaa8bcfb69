/** Sends one file, in pieces that can be taken up again (tus 1.0.0). */

import { Problem } from "../../shared/api/problem.js";
import { language } from "../../shared/texts/language.js";
import tus from "../../vendor/tus.js";
import { Folders } from "./folders.js";

/** @typedef {import("./upload.js").Upload} Upload */

const ADDRESS = "/api/drive/uploads";
const MEGABYTE = 1024 * 1024;
/** Up to here one request is enough; a larger file gets an address first, from which it goes on after a reload. */
const AT_ONCE = MEGABYTE;
const PIECE = 64 * MEGABYTE;
const RETRIES = [300, 1000, 3000];
const DAY = 24 * 3600 * 1000;

/** Each batch merges into folders of its own time: one that was deleted since is made again by the next batch. @type {WeakMap<object, Folders>} */
const folders = new WeakMap();

/** @param {object} batch */
export function foldersOf(batch) {
  const known = folders.get(batch) ?? new Folders();
  folders.set(batch, known);
  return known;
}

/**
 * Begin to send, or go on where it was broken off.
 * @param {Upload} upload
 * @param {import("./queue.js").Listener} listener
 * @returns {import("./queue.js").Sending}
 */
export function send(upload, listener) {
  /** @type {any} */
  let task = null;
  let isStopped = false;
  const begin = async () => {
    const file = /** @type {File} */ (upload.file);
    await readable(file);
    const parentId = await foldersOf(upload.batch).find(upload.folderId, upload.path);
    if (isStopped) return;
    task = taskOf(upload, file, parentId, listener);
    const previous = await task.findPreviousUploads();
    if (isStopped) return;
    if (previous.length) task.resumeFromPreviousUpload(previous[previous.length - 1]);
    task.start();
  };
  begin().catch((error) => listener.problem(error instanceof Problem ? error : unreadable()));
  const stop = (/** @type {boolean} */ discards) => {
    isStopped = true;
    task?.abort(discards).catch(() => {});
  };
  return { stop: () => stop(false), discard: () => stop(true) };
}

/**
 * @param {Upload} upload
 * @param {File} file
 * @param {string} parentId
 * @param {import("./queue.js").Listener} listener
 */
function taskOf(upload, file, parentId, listener) {
  let itemId = "";
  return new tus.Upload(file, {
    endpoint: new URL(ADDRESS, location.href).href,
    headers: { "Accept-Language": language.peek() },
    metadata: {
      filename: upload.name,
      filetype: file.type,
      parent_id: parentId,
      on_conflict: upload.onConflict,
      lastModified: String(upload.modified || file.lastModified),
    },
    fingerprint: async () => `${upload.key}:${upload.onConflict}`,
    removeFingerprintOnSuccess: true,
    retryDelays: RETRIES,
    chunkSize: PIECE,
    uploadDataDuringCreation: file.size <= AT_ONCE,
    onShouldRetry: (/** @type {any} */ error) => isWorthAnotherTry(error.originalResponse),
    onProgress: (/** @type {number} */ sent) => listener.progress(sent),
    onAfterResponse: (/** @type {any} */ _request, /** @type {any} */ response) => {
      itemId = response.getHeader("Upload-Item-Id") || itemId;
    },
    onSuccess: () => listener.done(itemId),
    onError: (/** @type {any} */ error) => {
      problemOf(error, file).then(listener.problem);
    },
  });
}

/** What no answer came to is asked again, and where another request still sends; a refusal stays one. @param {any} response */
function isWorthAnotherTry(response) {
  if (!response) return navigator.onLine;
  const status = response.getStatus();
  if (status === 409) return bodyOf(response).code !== "name_conflict";
  return status === 423 || status === 502 || status === 503 || status === 504;
}

/** @param {any} error @param {File} file */
async function problemOf(error, file) {
  const response = error.originalResponse;
  if (!response) {
    return readable(file).then(
      () => new Problem(0, {}),
      (problem) => problem,
    );
  }
  const retryAfter = Number(response.getHeader("Retry-After")) || null;
  return new Problem(response.getStatus(), bodyOf(response), {
    requestId: response.getHeader("X-Request-Id"),
    retryAfter,
  });
}

/** @param {any} response */
function bodyOf(response) {
  try {
    return JSON.parse(response.getBody());
  } catch {
    return {};
  }
}

/** A file that was moved or changed since it was chosen can't be read any more. Throws `Problem`. @param {File} file */
async function readable(file) {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw unreadable();
    });
}

const unreadable = () => new Problem(410, { code: "unreadable_file" });

/** Forget the addresses of uploads that the service has given up by now. */
export function cleanFingerprints(now = Date.now()) {
  for (const key of Object.keys(localStorage).filter((one) => one.startsWith("tus::"))) {
    try {
      const { creationTime } = JSON.parse(localStorage.getItem(key) ?? "");
      if (now - Date.parse(creationTime) < DAY) continue;
    } catch {
      // What can't be read is of no use to anybody.
    }
    localStorage.removeItem(key);
  }
}
