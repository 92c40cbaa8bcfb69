/** Uploads with progress, by XMLHttpRequest: `fetch` reports none. */

import { language } from "../texts/language.js";
import { Problem, problemOf } from "./problem.js";
import { address } from "./request.js";

/**
 * Send the bytes of a file, call `onSent` with the number of bytes sent so far, and return the JSON of the answer. Throws `Problem`, and `AbortError` when it is aborted.
 * @param {string} path
 * @param {Record<string, any>} query
 * @param {File} file
 * @param {{signal: AbortSignal, onSent: (bytes: number) => void}} options
 * @returns {Promise<any>}
 */
export async function upload(path, query, file, { signal, onSent }) {
  const request = new XMLHttpRequest();
  request.open("POST", address(path, query));
  request.setRequestHeader("accept-language", language.value);
  for (const [name, value] of Object.entries(headersOf(file))) request.setRequestHeader(name, value);
  request.responseType = "blob";
  request.upload.addEventListener("progress", (event) => onSent(event.loaded));
  const stop = () => request.abort();
  signal.throwIfAborted();
  signal.addEventListener("abort", stop);
  try {
    await new Promise((resolve) => {
      request.addEventListener("loadend", resolve);
      request.send(file);
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
  signal.throwIfAborted();
  return answerOf(request);
}

/** Return what the service learns of a file besides its bytes: its type, and its own date. @param {File} file */
export function headersOf(file) {
  const seconds = (file.lastModified / 1000).toFixed(3);
  return { "content-type": file.type || "application/octet-stream", "x-oc-mtime": seconds };
}

/** @param {XMLHttpRequest} request */
async function answerOf(request) {
  if (!request.status) throw new Problem(0, {});
  const headers = ["content-type", "retry-after", "x-request-id"].map((name) => [
    name,
    request.getResponseHeader(name),
  ]);
  const known = Object.fromEntries(headers.filter(([, value]) => value !== null));
  const response = new Response(request.response, { status: request.status, headers: known });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}
