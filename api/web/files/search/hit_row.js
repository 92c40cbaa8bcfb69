/** One hit: the file, where it is, and the passage. */

import { Icon } from "../../shared/components/icon.js";
import { href } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { shortDate } from "../../shared/texts/format.js";
import { iconOf } from "../list/symbols.js";
import { marked } from "./marks.js";

const LONGEST = 320;

/** @param {{hit: import("./hits.js").Hit, words: string}} properties */
export function HitRow({ hit, words }) {
  const { file, text: passage } = hit;
  const isPassage = passage && hit.end > hit.start;
  const query = isPassage ? { start: hit.start, end: hit.end, version: hit.version ?? undefined } : {};
  return html`<li class="hit">
    <a href=${href([file.kind, file.id], query)}>
      <${Icon} name=${iconOf(file)} />
      <span class="hit-words">
        <span class="hit-name"
          ><bdi><${Marked} content=${file.name} words=${words} /></bdi
        ></span>
        <span class="quiet hit-facts"
          ><bdi>${file.path}</bdi> · ${shortDate(file.modified_at)}${hit.place && ` · ${hit.place}`}</span
        >
        ${isPassage && html`<span class="hit-passage"><${Marked} content=${passage.slice(0, LONGEST)} words=${words} /></span>`}
      </span>
    </a>
  </li>`;
}

/** @param {{content: string, words: string}} properties */
function Marked({ content, words }) {
  return marked(content, words).map(({ part, isHit }) => (isHit ? html`<mark>${part}</mark>` : part));
}
