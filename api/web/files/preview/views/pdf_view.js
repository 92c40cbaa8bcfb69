/** A PDF in the browser's own viewer, at the page of the passage; where there is none, its words. */

import { send } from "../../../shared/api/request.js";
import { Loading } from "../../../shared/components/states.js";
import { html, useEffect, useState } from "../../../shared/preact.js";
import { contentAddress } from "../content.js";

/** Readers look for the mark of a PDF in so many bytes at its beginning (ISO 32000-2, annex I: 1,024). */
const HEAD = 1024;

/**
 * @param {object} properties
 * @param {import("../kinds.js").Item & {at?: string}} properties.item
 * @param {import("../passage.js").Passage} properties.passage
 * @param {any} properties.words shows its words
 * @param {() => void} properties.onFailure it is no PDF
 */
export function PdfView({ item, passage, words, onFailure }) {
  const [isPdf, setPdf] = useState(false);
  const version = passage.version ?? item.version;
  // A guest's link may count what is fetched: there the viewer alone tells.
  useEffect(() => {
    if (item.at) setPdf(true);
    else isMarked(contentAddress(item, version)).then((is) => (is ? setPdf(true) : onFailure()));
  }, [item.id, version]);
  if (!isPdf) return html`<${Loading} />`;
  if (!navigator.pdfViewerEnabled) return words;
  const page = /^page=(\d+)/.exec(passage.place)?.[1];
  const address = contentAddress(item, version, { inline: true });
  return html`<iframe
    class="pdf-view"
    title=${item.name}
    src=${`${address}#navpanes=0${page ? `&page=${page}` : ""}`}
  ></iframe>`;
}

/** Say whether a file begins as a PDF does; one that can't be fetched now is left to the viewer. @param {string} address */
async function isMarked(address) {
  try {
    const response = await send("GET", address, { headers: { range: `bytes=0-${HEAD - 1}` } });
    return new TextDecoder("latin1").decode(await response.arrayBuffer()).includes("%PDF-");
  } catch {
    return true;
  }
}
