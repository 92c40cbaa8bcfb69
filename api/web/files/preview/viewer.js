/** Shows what is in a file, in the way that fits its kind. Nothing in it is ever run. */

import { Failure, Loading } from "../../shared/components/states.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { contentAddress, textOf } from "./content.js";
import { Facts } from "./facts.js";
import { kindOf } from "./kinds.js";
import { ImageView } from "./views/image_view.js";
import { MarkdownView } from "./views/markdown_view.js";
import { PdfView } from "./views/pdf_view.js";
import { SourceView } from "./views/source_view.js";
import { TableView } from "./views/table_view.js";
import { TextView } from "./views/text_view.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/preview.css")]);

/** @typedef {import("./kinds.js").Item & {at?: string}} Item `at`: its route, of a guest's file */
/** @typedef {import("./passage.js").Passage} Passage */

/** Of these there are two ways to see them: as they are meant, and the text that is cited. */
const TWOFOLD = new Set(["markdown", "page", "table", "pdf"]);

/** Answers to who asks for the words of a file that has none, or none yet. */
const UNREADABLE = new Set([409, 413, 415]);

/** @param {Item} item */
export const isTwofold = (item) => TWOFOLD.has(kindOf(item));

/** @param {{item: Item, passage: Passage, asText: boolean}} properties */
export function Viewer({ item, passage, asText }) {
  const [isDamaged, setDamaged] = useState(false);
  const version = passage.version ?? item.version;
  useEffect(() => setDamaged(false), [item.id, version]);
  const kind = kindOf(item);
  const source = contentAddress(item, version);
  const fail = () => setDamaged(true);
  if (isDamaged) return html`<${Facts} item=${item} version=${version} reason=${text("preview.damaged")} />`;
  if (kind === "image")
    return html`<${ImageView} key=${source} source=${source} name=${item.name} onFailure=${fail} />`;
  if (kind === "audio")
    return html`<div class="media-view">
      <audio controls preload="metadata" src=${source} aria-label=${item.name} onError=${fail}></audio>
    </div>`;
  if (kind === "video")
    return html`<div class="media-view">
      <video controls preload="metadata" playsinline src=${source} aria-label=${item.name} onError=${fail}></video>
    </div>`;
  if (kind === "other") return html`<${Readable} item=${item} passage=${passage} />`;
  if (asText || !isTwofold(item)) return html`<${AsText} item=${item} passage=${passage} kind=${kind} />`;
  if (kind === "markdown") return html`<${MarkdownView} item=${item} passage=${passage} />`;
  if (kind === "table") return html`<${TableView} item=${item} passage=${passage} />`;
  if (kind === "page") return html`<${SourceView} item=${item} passage=${passage} />`;
  const words = html`<${Readable} item=${item} passage=${passage} />`;
  return html`<${PdfView} item=${item} passage=${passage} words=${words} onFailure=${fail} />`;
}

/** @param {{item: Item, passage: Passage, kind: import("./kinds.js").Kind}} properties */
function AsText({ item, passage, kind }) {
  const isExtracted = kind === "document" || kind === "pdf" || kind === "page";
  if (isExtracted) return html`<${Readable} item=${item} passage=${passage} />`;
  return html`<${TextView}
    file=${item}
    passage=${passage}
    lines=${kind === "code" || kind === "table"}
    label=${item.name}
  />`;
}

/** A file of which at least the words can be shown, if it has any; else what is known of it. @param {{item: Item, passage: Passage}} properties */
function Readable({ item, passage }) {
  const [state, setState] = useState(/** @type {"asking" | "text" | "none" | Error} */ ("asking"));
  const version = passage.version ?? item.version;
  const ask = () => {
    setState("asking");
    textOf(item, version, { limit: 1 }).then(
      (part) => setState(part.total_characters ? "text" : "none"),
      (error) => setState(UNREADABLE.has(error.status) ? "none" : error),
    );
  };
  useEffect(ask, [item.id, version, item.index_state]);
  if (state === "asking") return html`<${Loading} />`;
  if (state === "none") return html`<${Facts} item=${item} version=${version} />`;
  if (state === "text")
    return html`<${TextView} file=${item} passage=${passage} label=${item.name} note=${text("preview.extracted")} />`;
  return html`<${Failure} error=${state} onRetry=${ask} />`;
}
