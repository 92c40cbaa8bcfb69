/** What changes in the drive while the page is open: one stream for all rooms. */

import { follow } from "./api/event_stream.js";

/**
 * @typedef {object} DriveChange
 * @property {"change" | "reset"} type reset: too much was missed; list everything again
 * @property {string} [id]
 * @property {string} [at]
 * @property {boolean} [mine]
 * @property {string[]} [item_ids]
 * @property {string[]} [folder_ids]
 * @property {boolean} [complete]
 */

/** @type {Set<(change: DriveChange) => void>} */
const listeners = new Set();
/** @type {AbortController | null} */
let following = null;

/**
 * Call `listener` for each change. Returns what ends it.
 * @param {(change: DriveChange) => void} listener
 * @returns {() => void}
 */
export function onDriveChange(listener) {
  listeners.add(listener);
  if (!following) start();
  return () => {
    listeners.delete(listener);
    if (!listeners.size) stop();
  };
}

function start() {
  following = new AbortController();
  const tell = (/** @type {any} */ event) => listeners.forEach((one) => one({ ...event.data, type: event.type }));
  let isBegun = false;
  // What changed after a room was read and before the stream began, no event tells of.
  const onConnection = (/** @type {boolean} */ isOpen) => {
    if (isOpen && !isBegun) listeners.forEach((one) => one({ type: "reset" }));
    isBegun = isBegun || isOpen;
  };
  // The stream ends with the session; the next one begins with the next listener.
  follow("/api/drive/events", { abort: following.signal, onEvent: tell, onConnection }).catch(stop);
}

function stop() {
  following?.abort();
  following = null;
}
