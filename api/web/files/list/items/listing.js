/** The items of one place, in their order: loaded page by page, and kept as they are in the drive. */

import { get } from "../../../shared/api/request.js";
import { signal } from "../../../shared/preact.js";
import { belongs } from "./belonging.js";
import { comparison, inSlices, inserted, merging, sorting } from "./ordering.js";

/** @typedef {import("./ordering.js").Item} Item */
/** @typedef {import("./ordering.js").Sort} Sort */
/** @typedef {import("./belonging.js").Kind} Kind */

const FIRST_PAGE = 200;
const PAGE = 1000;

export class Listing {
  /** @param {Kind} kind @param {string} folderId @param {Sort | null} sort null: as the service lists them */
  constructor(kind, folderId, sort) {
    this.kind = kind;
    this.folderId = folderId;
    this.sort = sort;
    this.abort = new AbortController();
    /** Whether something changed while the list was loaded. */
    this.isStale = false;
    /** @type {import("../../../vendor/signals.js").Signal<Item[]>} */
    this.items = signal([]);
    /** The folder itself. @type {import("../../../vendor/signals.js").Signal<Item | null>} */
    this.folder = signal(null);
    this.isLoading = signal(true);
    /** @type {import("../../../vendor/signals.js").Signal<unknown>} */
    this.error = signal(null);
    /** @type {import("../../../vendor/signals.js").Signal<number | null>} */
    this.total = signal(null);
  }

  get path() {
    return this.kind === "folder"
      ? `/api/drive/items/${encodeURIComponent(this.folderId)}/children`
      : `/api/drive/${this.kind}`;
  }

  /** Load all; `quiet` shows the new list only when it is whole. @param {{quiet?: boolean}} [options] */
  async load({ quiet = false } = {}) {
    this.abort.abort();
    this.abort = new AbortController();
    const { signal: abort } = this.abort;
    this.isStale = false;
    this.isLoading.value = true;
    try {
      if (this.kind === "folder") await this.#loadFolder(abort);
      const items = await this.#pages(abort, quiet);
      abort.throwIfAborted();
      this.items.value = items;
      this.error.value = null;
    } catch (error) {
      if (abort.aborted) return;
      this.error.value = error;
    }
    this.isLoading.value = false;
    if (this.isStale && !this.error.value) await this.load({ quiet: true });
  }

  /** @param {AbortSignal} abort */
  async #loadFolder(abort) {
    const folder = await get(`/api/drive/items/${encodeURIComponent(this.folderId)}`, {}, { signal: abort });
    // The list knows its folder by its id, whatever name the address had for it, such as `root`.
    this.folderId = folder.id;
    this.folder.value = folder;
  }

  /** @param {AbortSignal} abort @param {boolean} quiet */
  async #pages(abort, quiet) {
    /** @type {Item[]} */
    let items = [];
    let cursor;
    do {
      const limit = cursor ? PAGE : FIRST_PAGE;
      const page = await get(this.path, { limit, cursor }, { signal: abort });
      items = await this.#joined(items, page.items, abort);
      this.total.value = page.total;
      if (!quiet) this.items.value = items;
      cursor = page.cursor;
    } while (cursor);
    return items;
  }

  /** @param {Item[]} items @param {Item[]} page @param {AbortSignal} abort */
  async #joined(items, page, abort) {
    if (!this.sort) return items.concat(page);
    const compare = comparison(this.sort);
    const sorted = await inSlices(sorting(page, compare), abort);
    return inSlices(merging(items, sorted, compare), abort);
  }

  /** @param {Sort} sort */
  async reorder(sort) {
    this.sort = sort;
    const before = this.items.peek();
    const items = await inSlices(sorting(before, comparison(sort)));
    if (this.sort === sort && this.items.peek() === before) this.items.value = items;
    else if (this.sort === sort) await this.reorder(sort);
  }

  /**
   * Take in what the service answered: each item comes in, goes, or stands as it is now.
   * @param {Item[]} changed
   * @param {string[]} [gone] items that are not there any more
   */
  take(changed, gone = []) {
    this.isStale = this.isLoading.peek();
    const shown = new Set(this.items.peek().map((item) => item.id));
    const ids = new Set([...gone, ...changed.map((item) => item.id)]);
    const mine = changed.filter((item) => belongs(item, this.kind, this.folderId, shown.has(item.id)));
    if (!mine.length && ![...ids].some((id) => shown.has(id))) return;
    this.items.value = this.sort ? this.#sortedWith(ids, mine) : this.#inPlaceWith(ids, mine, shown);
  }

  /** @param {Set<string>} ids @param {Item[]} mine */
  #sortedWith(ids, mine) {
    const rest = this.items.peek().filter((item) => !ids.has(item.id));
    return inserted(rest, mine, comparison(/** @type {Sort} */ (this.sort)));
  }

  /** @param {Set<string>} ids @param {Item[]} mine @param {Set<string>} shown */
  #inPlaceWith(ids, mine, shown) {
    const now = new Map(mine.map((item) => [item.id, item]));
    const rest = this.items.peek().filter((item) => !ids.has(item.id) || now.has(item.id));
    const added = mine.filter((item) => !shown.has(item.id));
    return [...added, ...rest.map((item) => now.get(item.id) ?? item)];
  }

  /** @param {string} id */
  has(id) {
    return this.items.peek().some((item) => item.id === id);
  }

  /** End what is under way. */
  close() {
    this.abort.abort();
  }
}
