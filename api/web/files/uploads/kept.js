/** Uploads that go on after the page was loaded again: the browser keeps the files of those that are not over. */

import { Upload } from "./upload.js";

/** @typedef {{key: string, person: string, name: string, size: number, modified: number, folderId: string, path: string[], onConflict: import("./upload.js").OnConflict, file: File | null}} Kept */

const DATABASE = "uploads";
const STORE = "files";
/** Says, without opening the database, that there is something in it. */
export const MARK = "unfinished-uploads";
/** A larger file has to be chosen again: a copy of it would take too much of the disk. */
const LARGEST = 256 * 1024 * 1024;

/** A page that is loaded again may be there before the one before it is gone, milliseconds. */
const LETS_GO = 4000;

/** @type {Promise<IDBDatabase> | null} */
let opening = null;
/** What ends the hold on an upload that this page cares for. @type {Map<string, () => void>} */
const held = new Map();

const isAble = () => typeof indexedDB !== "undefined" && Boolean(navigator.locks);

function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "key" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} act
 * @returns {Promise<T>}
 */
async function within(mode, act) {
  const store = (await database()).transaction(STORE, mode).objectStore(STORE);
  return new Promise((resolve, reject) => {
    const request = act(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Keep uploads until they are over. What can't be kept goes on all the same, as long as the page is open.
 * @param {Upload[]} uploads
 * @param {string} person whose uploads they are
 */
export async function keep(uploads, person) {
  if (!isAble() || !uploads.length) return;
  localStorage.setItem(MARK, "1");
  for (const upload of uploads) {
    // A small file may be there before its turn to be kept comes.
    if (upload.isOver) continue;
    const { key, name, size, modified, folderId, path, onConflict, file } = upload;
    hold(key);
    const kept = { key, person, name, size, modified, folderId, path, onConflict, file: size <= LARGEST ? file : null };
    await within("readwrite", (store) => store.put(kept)).catch(() => {});
    if (upload.isOver) await forget(upload);
  }
  if (uploads.every((upload) => upload.isOver)) await forget(uploads[0]);
}

/** @param {Upload} upload */
export async function forget(upload) {
  if (!isAble()) return;
  release(upload.key);
  await within("readwrite", (store) => store.delete(upload.key)).catch(() => {});
  const left = await within("readonly", (store) => store.count()).catch(() => 0);
  if (!left) localStorage.removeItem(MARK);
}

/**
 * Return the uploads that an earlier page left, and no other open page cares for.
 * @param {string} person
 * @returns {Promise<Upload[]>}
 */
export async function left(person) {
  if (!isAble()) return [];
  /** @type {Kept[]} */
  const all = await within("readonly", (store) => store.getAll()).catch(() => []);
  const mine = all.filter((one) => one.person === person);
  const isFree = await Promise.all(mine.map((one) => hold(one.key, LETS_GO)));
  return mine.filter((_, index) => isFree[index]).map((one) => new Upload(one));
}

/**
 * Care for an upload, so that no other page sends it too. Returns whether none does.
 * @param {string} key
 * @param {number} [wait] milliseconds until another page has let go of it
 * @returns {Promise<boolean>}
 */
function hold(key, wait = 0) {
  if (held.has(key)) return Promise.resolve(false);
  const options = wait ? { signal: AbortSignal.timeout(wait) } : { ifAvailable: true };
  return new Promise((resolve) => {
    const taken = navigator.locks.request(`upload ${key}`, options, (lock) => {
      resolve(Boolean(lock));
      return lock && new Promise((end) => held.set(key, () => end(undefined)));
    });
    taken.catch(() => resolve(false));
  });
}

/** @param {string} key */
function release(key) {
  held.get(key)?.();
  held.delete(key);
}
