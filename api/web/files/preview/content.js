/** Where the bytes and the text of a file come from. */

import { address, get } from "../../shared/api/request.js";

/** @typedef {import("../../shared/api/types.js").Schema<"TextResult">} TextPart */
/** @typedef {{id: string, version: number, at?: string}} File `version`: the newest one; `at`: its route, of a guest's file */

/** @param {File} file */
const routeOf = ({ id, at }) => at ?? `/api/drive/files/${encodeURIComponent(id)}`;

/**
 * The address of a file's bytes; of an earlier version only if it is one, as that is for editors.
 * @param {File} file
 * @param {number} [version]
 * @param {{inline?: boolean}} [options] inline: to be shown in a frame
 */
export function contentAddress(file, version = file.version, { inline = false } = {}) {
  const query = { version: version === file.version ? undefined : version, inline: inline || undefined };
  // The etag of a content is no part of its address: this keeps a browser from showing the one before.
  const path = address(`${routeOf(file)}/content`, query);
  return `${path}${path.includes("?") ? "&" : "?"}of=${file.version}`;
}

/**
 * Return a part of a file's text.
 * @param {File} file
 * @param {number} version
 * @param {{start?: number, end?: number, offset?: number, limit?: number}} part
 * @returns {Promise<TextPart>}
 */
export function textOf(file, version, part) {
  const query = { ...part, version: version === file.version ? undefined : version };
  return get(`${routeOf(file)}/text`, query);
}
