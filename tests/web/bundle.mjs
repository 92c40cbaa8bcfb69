/**
 * `node bundle.mjs SOURCE TARGET VERSION`: joins the modules of the page into few files.
 *
 * All that the entry imports statically is one file, a part that is loaded when it is wanted is another. Words are one file
 * a language, styles one file. `manifest.json` names the files of the first view.
 */

import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { Buffer } from "node:buffer";
import path from "node:path";
import process from "node:process";
import { transform } from "lightningcss";
import { rolldown } from "rolldown";

const [source, target] = process.argv.slice(2, 4).map((folder) => path.resolve(folder));
const version = process.argv[4];
const ENTRY = path.join(source, "app/main.js");
/** Libraries look for `module` and `this`; `import()` of a part that others import anyway saves nothing. */
const EXPECTED = new Set(["COMMONJS_VARIABLE_IN_ESM", "THIS_IS_UNDEFINED", "INEFFECTIVE_DYNAMIC_IMPORT"]);
const LANGUAGES = ["en", "zh"];
/** What most browsers of the last four years understand; the page's own code is not newer. */
const BROWSERS = "es2022";
/** Modules that a bundle has in the place of others. */
const REPLACED = { "shared/styles/load.js": "shared/styles/load.bundled.js" };

const replacing = {
  name: "replacing",
  async resolveId(address, importer) {
    if (!importer) return null;
    const name = path.relative(source, path.resolve(path.dirname(importer), address));
    return name in REPLACED ? path.join(source, REPLACED[name]) : null;
  },
};

/** Return the modules that a module imports statically, itself among them. */
function closure(entry, module) {
  const found = new Set([entry]);
  for (const id of found) for (const imported of module(id).importedIds) found.add(imported);
  return found;
}

async function modules() {
  /** @type {Set<string>} */
  let first = new Set();
  const bundle = await rolldown({
    input: ENTRY,
    plugins: [
      replacing,
      {
        name: "first",
        buildEnd() {
          first = closure(ENTRY, (id) => this.getModuleInfo(id));
        },
      },
    ],
    transform: { target: BROWSERS },
    onwarn(warning) {
      if (!EXPECTED.has(warning.code)) throw new Error(warning.message);
    },
  });
  const { output } = await bundle.generate({
    format: "es",
    minify: true,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: {
      groups: [
        { name: "page", test: (id) => first.has(id) },
        { name: "settings", test: (id) => id.startsWith(path.join(source, "settings")) },
      ],
    },
  });
  await bundle.close();
  return output;
}

async function files(folder, suffix) {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith(suffix)).sort();
}

/** The words of all rooms in one file: each room looks for its own beside its module, which is the bundle. */
async function words(language) {
  const rooms = await files(source, path.join("texts", `${language}.json`));
  const parts = await Promise.all(
    rooms.map(async (name) => JSON.parse(await readFile(path.join(source, name), "utf8"))),
  );
  return JSON.stringify(Object.assign({}, ...parts));
}

/** The order in which modules load them, for a later rule wins: the first view's, then those that rooms share, then theirs. */
async function styles() {
  const first = JSON.parse(await readFile(path.join(source, "app/styles.json"), "utf8"));
  const all = (await files(source, ".css")).filter((name) => !first.includes(name));
  const isShared = (name) => name.startsWith(`shared${path.sep}`);
  const names = [...first, ...all.filter(isShared), ...all.filter((name) => !isShared(name))];
  const parts = await Promise.all(names.map((name) => readFile(path.join(source, name), "utf8")));
  return transform({ filename: "page.css", code: Buffer.from(parts.join("\n")), minify: true }).code;
}

/** @param {string} name @param {string | Uint8Array} content */
async function write(name, content) {
  await writeFile(path.join(target, name), content);
  return name;
}

await rm(target, { recursive: true, force: true });
await mkdir(path.join(target, "texts"), { recursive: true });
const chunks = await modules();
for (const { fileName, code } of chunks) await write(fileName, code);
// The entry itself is in the group of what it imports: a file that only imports that one is left.
const [{ imports: scripts }] = chunks.filter((chunk) => chunk.isEntry);
const manifest = {
  version,
  scripts,
  style: await write("page.css", await styles()),
  words: Object.fromEntries(
    await Promise.all(LANGUAGES.map(async (one) => [one, await write(`texts/${one}.json`, await words(one))])),
  ),
};
await write("manifest.json", JSON.stringify(manifest));
