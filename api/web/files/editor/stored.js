/** The file that is edited, as the service has it. */

import { get, send } from "../../shared/api/request.js";
import { decode, encode } from "../preview/encoding.js";

/** @typedef {import("../../shared/api/types.js").Schema<"ItemView">} Item */
/** `etag`: what a save expects to find. @typedef {import("../preview/encoding.js").Decoded & {etag: string, version: number}} Stored */

/** @param {string} id */
const contentOf = (id) => `/api/drive/files/${encodeURIComponent(id)}/content`;

/** @param {string} id @returns {Promise<Stored>} */
export async function fetchStored(id) {
  /** @type {Item} */
  const item = await get(`/api/drive/items/${encodeURIComponent(id)}`);
  const response = await send("GET", contentOf(id));
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { ...decode(bytes), etag: response.headers.get("etag") || item.etag, version: item.version };
}

/**
 * Save a text as the newest version. Throws `Problem`: `etag_mismatch` if the file has changed since.
 * @param {Item} item
 * @param {Stored} stored what the text was made from
 * @param {string} text
 * @returns {Promise<Stored>} what is stored now
 */
export async function save(item, stored, text) {
  const response = await send("PUT", contentOf(item.id), {
    body: encode(text, stored),
    headers: { "content-type": item.media_type },
    ifMatch: stored.etag,
  });
  /** @type {Item} */
  const now = await response.json();
  return { ...stored, text, isUtf8: true, etag: now.etag, version: now.version };
}
