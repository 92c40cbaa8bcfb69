/** The number of a citation, which opens what it quotes. */

import { html } from "../preact.js";
import { text } from "../texts/texts.js";

/** @typedef {import("../api/types.js").Schema<"CitationView">} Citation */

/** Say in words what a citation is: the quotation, where it stands, or why it could not be checked. @param {Citation} citation */
export function citationWords(citation) {
  const where = [citation.name, citation.heading, placeWords(citation.place)].filter(Boolean).join(" · ");
  if (!citation.verified)
    return [text(`shared.citation.unverified.${citation.reason || "absent"}`), where].filter(Boolean).join(" ");
  const current = citation.is_current ? "" : text("shared.citation.not_current");
  return [`“${citation.quote}”`, where, current].filter(Boolean).join(" — ");
}

/** Return a place such as `page=2` in words. @param {string} place */
export function placeWords(place) {
  const [, kind, value] = /^(page|slide|line|sheet)=(.+)$/.exec(place) ?? [];
  return kind ? text(`shared.place.${kind}`, { value: value.replace("!", " ") }) : place;
}

/** @param {{number: number, citation?: Citation, onOpen?: (citation: Citation) => void}} properties without a citation: it has not come yet */
export function CitationChip({ number, citation, onOpen }) {
  if (!citation) return html`<span class="citation waiting">${number}</span>`;
  const words = citationWords(citation);
  const name = text(citation.verified ? "shared.citation.open" : "shared.citation.unverified", { number, words });
  const open = () => onOpen?.(citation);
  return html`<button
    type="button"
    class=${citation.verified ? "citation" : "citation unverified"}
    title=${words}
    aria-label=${name}
    aria-disabled=${citation.file_id ? undefined : "true"}
    onClick=${citation.file_id ? open : undefined}
  >
    ${number}${!citation.verified && "?"}
  </button>`;
}
