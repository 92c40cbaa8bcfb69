/** Files with the folders in which they lie, from what was dropped or chosen. */

/** @typedef {{file: File, path: string[]}} Placed */
/** `folders`: those with nothing in them. @typedef {{files: Placed[], folders: string[][]}} Tree */

/**
 * Return the files of a folder that was chosen: each names its own path.
 * @param {Iterable<File>} files
 * @returns {Tree}
 */
export function treeOfFiles(files) {
  return {
    files: [...files].map((file) => ({ file, path: (file.webkitRelativePath || "").split("/").slice(0, -1) })),
    folders: [],
  };
}

/**
 * Return what was dropped, whole folders too. The entries have to be taken at once: after the event they are gone.
 * @param {DataTransfer} transfer
 * @returns {Promise<Tree>}
 */
export async function treeOfDrop(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  /** @type {Tree} */
  const tree = { files: [], folders: [] };
  for (const entry of entries) {
    if (entry instanceof File) tree.files.push({ file: entry, path: [] });
    else if (entry) await walk(entry, [], tree);
  }
  return tree;
}

/**
 * @param {any} entry a FileSystemEntry
 * @param {string[]} path
 * @param {Tree} tree
 */
export async function walk(entry, path, tree) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    tree.files.push({ file, path });
    return;
  }
  const below = [...path, entry.name];
  const children = await childrenOf(entry.createReader());
  if (!children.length) tree.folders.push(below);
  for (const child of children) await walk(child, below, tree);
}

/** A reader gives a part at a time, and nothing at the end. @param {any} reader */
async function childrenOf(reader) {
  const children = [];
  for (;;) {
    /** @type {any[]} */
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return children;
    children.push(...part);
  }
}
