/** Server-sent events: read from a response, and followed over lost connections. */

import { inView, untilOutOfView } from "./in_view.js";
import { send } from "./request.js";

/** @typedef {{id: string, type: string, data: any}} StreamEvent */

/**
 * Take whole frames off the front of a text, and return the rest. A frame without data is no event, but its id is where
 * to go on from.
 * @param {string} text
 * @param {(event: StreamEvent) => void} onEvent
 * @param {(id: string) => void} [onFrame] called after each frame with its id, if it has one
 */
export function takeFrames(text, onEvent, onFrame) {
  let rest = text.replaceAll("\r\n", "\n");
  for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
    const { id, type, data } = parseFrame(rest.slice(0, end));
    rest = rest.slice(end + 2);
    if (data) onEvent({ id, type, data: JSON.parse(data) });
    onFrame?.(id);
  }
  return rest;
}

/** @param {string} frame */
function parseFrame(frame) {
  const event = { id: "", type: "message", data: "" };
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const name = line.slice(0, colon);
    if (name === "id") event.id = value;
    else if (name === "event") event.type = value;
    else if (name === "data") event.data += event.data ? `\n${value}` : value;
  }
  return event;
}

/**
 * Read the events of a response until it ends.
 * @param {Response} response
 * @param {(event: StreamEvent) => void} onEvent
 * @param {(id: string) => void} [onFrame]
 */
export async function readEvents(response, onEvent, onFrame) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text = takeFrames(text + value, onEvent, onFrame);
  }
}

const FIRST_WAIT = 500;
const MAX_WAIT = 15000;

/**
 * Follow a stream for as long as `abort` is not aborted, from the last event on after each lost connection. A tab that
 * nobody looks at keeps no connection: it goes on from there when it is in view again.
 * It ends by itself when the service says that nothing will come any more (204). Throws `Problem` for what no further
 * try changes (a status of 400 to 499 but 408 and 429).
 * @param {string} path
 * @param {{query?: Record<string, any>, after?: string, abort: AbortSignal, onEvent: (event: StreamEvent) => void,
 *   onConnection?: (isConnected: boolean) => void}} options
 */
export async function follow(path, { query, after = "", abort, onEvent, onConnection }) {
  let last = after;
  let wait = FIRST_WAIT;
  let isBegun = Boolean(after);
  while (!abort.aborted) {
    // Even out of view it begins: what changes from now on must not be missed.
    if (isBegun) await inView(abort);
    const view = untilOutOfView(abort);
    const onFrame = (/** @type {string} */ id) => {
      last = id || last;
      wait = FIRST_WAIT;
      isBegun = true;
      view.release();
    };
    try {
      /** @type {Record<string, string>} */
      const headers = last ? { "last-event-id": last } : {};
      const response = await send("GET", path, { query, headers, signal: view.signal });
      onConnection?.(true);
      if (response.status === 204) return;
      await readEvents(response, onEvent, onFrame);
    } catch (error) {
      if (abort.aborted) return;
      if (isFinal(error)) throw error;
    } finally {
      view.end();
    }
    if (view.signal.aborted) continue;
    onConnection?.(false);
    await pause(wait, abort);
    wait = Math.min(wait * 2, MAX_WAIT);
  }
}

/** @param {any} error */
function isFinal(error) {
  return error?.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
}

/**
 * Wait; no longer than until the browser has a network again, or `abort`.
 * @param {number} milliseconds
 * @param {AbortSignal} abort
 * @returns {Promise<void>}
 */
function pause(milliseconds, abort) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      abort.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    abort.addEventListener("abort", end);
  });
}
