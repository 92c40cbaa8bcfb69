/** One file on its way into the drive. */

import { signal } from "../../shared/preact.js";

/**
 * - `waiting` for its turn, `sending`, `paused` by the person, `offline` until the service can be reached again,
 *   `asking` what to do about a name that is taken
 * - over: `done`, `failed` with a problem, `skipped`, `cancelled`
 * - `lost`: begun before the page was loaded again, and the browser has the file no more
 * @typedef {"waiting" | "sending" | "paused" | "offline" | "asking" | "done" | "failed" | "skipped" | "cancelled" | "lost"} State
 */
/** @typedef {"fail" | "rename" | "replace"} OnConflict */
/** What was chosen or dropped together: one answer may count for all of it. @typedef {{choice: "" | OnConflict | "skip"}} Batch */

const OVER = new Set(["done", "failed", "skipped", "cancelled"]);
const ACTIVE = new Set(["waiting", "sending", "offline", "asking"]);
let next = 1;

export class Upload {
  /**
   * @param {{file: File | null, folderId: string, path?: string[], batch?: Batch, onConflict?: OnConflict, name?: string, size?: number, modified?: number}} facts
   *   `path`: the folders below `folderId` in which the file goes
   */
  constructor({ file, folderId, path = [], batch = { choice: "" }, onConflict = "fail", name, size, modified }) {
    this.id = next++;
    this.file = file;
    this.name = name ?? file?.name ?? "";
    this.size = size ?? file?.size ?? 0;
    this.modified = modified ?? file?.lastModified ?? 0;
    this.folderId = folderId;
    this.path = path;
    this.batch = batch;
    this.onConflict = onConflict;
    this.itemId = "";
    /** @type {import("../../vendor/signals.js").Signal<State>} */
    this.state = signal(file ? "waiting" : "lost");
    /** Bytes that the service has. */
    this.sent = signal(0);
    /** Why it failed. @type {import("../../vendor/signals.js").Signal<any>} */
    this.problem = signal(null);
  }

  /** Where it goes; two of one place never go at once, so that the second one meets the first one's name. */
  get target() {
    return [this.folderId, ...this.path, this.name].join("/");
  }

  /** The same for the same file on its way to the same place, also after the page was loaded again. */
  get key() {
    return `${this.target}:${this.size}:${this.modified}`;
  }

  get isOver() {
    return OVER.has(this.state.value);
  }

  /** Say whether it goes on by itself. */
  get isActive() {
    return ACTIVE.has(this.state.value);
  }
}
