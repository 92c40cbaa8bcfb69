/** What the person attached to the message that they are writing: rooms add to it, the composer shows and sends it. */

import { signal } from "./preact.js";

/** @typedef {{id: string, kind: "file" | "folder", name: string}} Attachment */

/** @type {import("../vendor/signals.js").Signal<Attachment[]>} */
export const attachments = signal([]);

/** What the composer should say and do next; it takes the request away once it has. @type {import("../vendor/signals.js").Signal<{message: string, send: boolean} | null>} */
export const composerRequest = signal(null);

/** @param {Attachment[]} items */
export function attach(items) {
  const known = new Set(attachments.peek().map((item) => item.id));
  const added = items.filter((item) => !known.has(item.id)).map(({ id, kind, name }) => ({ id, kind, name }));
  attachments.value = [...attachments.peek(), ...added];
}

/** @param {string} id */
export function detach(id) {
  attachments.value = attachments.peek().filter((item) => item.id !== id);
}

/**
 * Attach items, and put words into the composer; `send` sends them at once.
 * @param {Attachment[]} items
 * @param {string} message
 * @param {{send?: boolean}} [options]
 */
export function askAbout(items, message = "", { send = false } = {}) {
  attach(items);
  composerRequest.value = { message, send };
}

/** @typedef {(files: File[]) => Promise<Attachment[]>} Uploader */

/** @type {Uploader | null} */
let uploader = null;

/** Name what brings files of the person's device into the drive. @param {Uploader} upload */
export function setUploader(upload) {
  uploader = upload;
}

/** Bring files into the drive, and attach what they become. @param {File[]} files */
export async function uploadAndAttach(files) {
  if (uploader) attach(await uploader(files));
}
