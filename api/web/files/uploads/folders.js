/** The folders of a tree on its way into the drive: each is made once, when the first thing goes into it. */

import { Problem } from "../../shared/api/problem.js";
import { post } from "../../shared/api/request.js";

export class Folders {
  /** @param {(name: string, parentId: string) => Promise<string>} [make] returns the folder's id */
  constructor(make = makeFolder) {
    this.make = make;
    /** @type {Map<string, Promise<string>>} */
    this.known = new Map();
  }

  /**
   * Return the id of the folder of a path below another one.
   * @param {string} rootId
   * @param {string[]} path
   * @returns {Promise<string>}
   */
  find(rootId, path) {
    if (!path.length) return Promise.resolve(rootId);
    const key = JSON.stringify([rootId, ...path]);
    const known = this.known.get(key);
    if (known) return known;
    const name = path[path.length - 1];
    const making = this.find(rootId, path.slice(0, -1)).then((parentId) => this.make(name, parentId));
    this.known.set(key, making);
    // What failed is tried anew by the next file, or by the person's retry.
    making.catch(() => this.known.delete(key));
    return making;
  }
}

/** A folder of that name that is there already takes the files in. @param {string} name @param {string} parentId */
async function makeFolder(name, parentId) {
  const body = { kind: "folder", name, parent_id: parentId };
  try {
    return (await post("/api/drive/items", body)).id;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "name_conflict") throw error;
    if (error.details.existing_kind === "folder") return error.details.existing_id;
    return (await post("/api/drive/items", { ...body, on_conflict: "rename" })).id;
  }
}
