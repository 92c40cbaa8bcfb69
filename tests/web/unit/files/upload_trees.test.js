import assert from "node:assert/strict";
import test from "node:test";

import { Folders } from "../../../../api/web/files/uploads/folders.js";
import { treeOfFiles, walk } from "../../../../api/web/files/uploads/trees.js";

const file = (name) => ({ isFile: true, name, file: (done) => done({ name }) });
const folder = (name, ...children) => ({
  name,
  createReader: () => {
    // As browsers do: a part at a time, nothing at the end.
    const parts = [children.slice(0, 1), children.slice(1), []].filter((part, index) => part.length || index === 2);
    return { readEntries: (done) => done(parts.shift() ?? []) };
  },
});

test("a dropped folder comes with all that is in it, empty folders too", async () => {
  const tree = { files: [], folders: [] };
  await walk(folder("Trip", file("a"), folder("图片", file("b")), folder("empty")), [], tree);
  assert.deepEqual(
    tree.files.map(({ file: { name }, path }) => [...path, name].join("/")),
    ["Trip/a", "Trip/图片/b"],
  );
  assert.deepEqual(tree.folders, [["Trip", "empty"]]);
});

test("a chosen file names its own folders", () => {
  const [placed] = treeOfFiles([{ name: "a", webkitRelativePath: "Trip/2026/a" }]).files;
  assert.deepEqual(placed.path, ["Trip", "2026"]);
});

test("each folder is made once, its parent first, and again after a failure", async () => {
  const made = [];
  let fails = true;
  const folders = new Folders(async (name, parentId) => {
    made.push(`${parentId}/${name}`);
    if (name === "b" && fails) throw new Error("no");
    return name;
  });
  await assert.rejects(folders.find("root", ["a", "b"]));
  fails = false;
  assert.equal(await folders.find("root", ["a", "b"]), "b");
  await folders.find("root", ["a"]);
  assert.deepEqual(made, ["root/a", "a/b", "a/b"]);
});
