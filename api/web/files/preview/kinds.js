/** What a file is shown as. */

/** @typedef {import("../../shared/api/types.js").Schema<"ItemView">} Item */
/** @typedef {"markdown" | "code" | "text" | "page" | "table" | "image" | "pdf" | "audio" | "video" | "document" | "other"} Kind */

const CODE = new Set(
  (
    "js mjs cjs jsx ts tsx py pyi rb go rs java kt kts c h cc cpp hpp cs swift php pl lua r jl scala sh bash zsh fish ps1 bat sql " +
    "css scss less xml svg json jsonl ndjson yaml yml toml ini cfg conf env tex vue svelte dart ex exs clj hs ml diff patch " +
    "graphql proto tf gradle cmake dockerfile makefile gitignore editorconfig properties"
  ).split(" "),
);
/** Pages, of which the readers give the words alone. */
const PAGES = new Set(["html", "htm", "xhtml"]);
const TEXT = new Set("txt text log rst adoc org srt vtt ics vcf".split(" "));
/** Images that browsers draw; of others there may be a thumbnail. */
const IMAGES = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/svg+xml",
  "image/x-icon",
]);
const DOCUMENTS = new Set("docx pptx xlsx xlsm doc ppt xls odt ods odp rtf epub eml msg ipynb".split(" "));

/** @param {string} name */
export const suffixOf = (name) => name.slice(name.lastIndexOf(".") + 1).toLowerCase();

/** @type {Array<[Kind, (type: string, suffix: string) => boolean]>} */
const RULES = [
  ["markdown", (type, suffix) => type === "text/markdown" || suffix === "md" || suffix === "markdown"],
  ["table", (type, suffix) => type === "text/csv" || suffix === "csv" || suffix === "tsv"],
  ["image", (type) => IMAGES.has(type)],
  ["pdf", (type) => type === "application/pdf"],
  ["audio", (type) => type.startsWith("audio/")],
  ["video", (type, suffix) => type.startsWith("video/") && suffix !== "ts"],
  ["page", (type, suffix) => PAGES.has(suffix) || type === "text/html" || type === "application/xhtml+xml"],
  ["document", (_type, suffix) => DOCUMENTS.has(suffix)],
  ["code", (type, suffix) => CODE.has(suffix) || type === "application/json"],
  ["text", (type, suffix) => TEXT.has(suffix) || type.startsWith("text/")],
];

/**
 * @param {{name: string, media_type: string}} item
 * @returns {Kind}
 */
export function kindOf({ name, media_type: type }) {
  const suffix = suffixOf(name);
  return RULES.find(([, fits]) => fits(type, suffix))?.[0] ?? "other";
}

/** Say whether people may write in it here. @param {Kind} kind */
export const isText = (kind) => ["markdown", "code", "text", "page", "table"].includes(kind);

/** @param {Item} item */
export const mayEdit = (item) => item.role === "owner" || item.role === "editor";
