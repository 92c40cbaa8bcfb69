/** Which icon stands for an item. */

/** @typedef {import("./items/ordering.js").Item} Item */

/** @type {Array<[RegExp, string]>} */
const BY_TYPE = [
  [/^image\//, "image"],
  [/^audio\//, "audio"],
  [/^video\//, "video"],
  [/pdf$/, "pdf"],
  [/csv|sheet|excel/, "sheet"],
  [/presentation|powerpoint/, "slides"],
  [/zip|tar|compressed|archive/, "archive"],
  // Types of Office have "xml" in their names.
  [/officedocument|opendocument|word/, "text"],
  [/json|xml|javascript|python|yaml|x-sh|html|css/, "code"],
  [/^text\/|document/, "text"],
];

/** @param {{kind: string, media_type?: string}} item */
export function iconOf({ kind, media_type: type = "" }) {
  if (kind === "folder") return "folder";
  return BY_TYPE.find(([pattern]) => pattern.test(type))?.[1] ?? "file";
}

/** What a quiet mark says of how a file can be searched: nothing while all is well. @param {Item} item */
export function indexMark(item) {
  const state = item.index_state;
  if (state === "pending" || state === "indexing") return { icon: "clock", state: "pending" };
  if (state === "needs_ocr") return { icon: "clock", state };
  if (state === "failed" || state === "needs_password") return { icon: "warning", state };
  return null;
}
