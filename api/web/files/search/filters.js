/** What narrows a search. */

import { Button } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { WITHIN } from "./parameters.js";

/** @typedef {import("./search.js").Query} Query */

const TYPES = ["document", "spreadsheet", "presentation", "pdf", "image", "text", "code"];

/** @param {{query: Query, onChange: (change: Query) => void}} properties */
export function Filters({ query, onChange }) {
  const isNarrowed = Boolean(query.type || query.within || query.owner || query.folder);
  const within = [...Object.keys(WITHIN), "own"];
  return html`<div class="search-filters">
    <${Choice} name="type" values=${TYPES} query=${query} onChange=${onChange} />
    <${Choice} name="within" values=${within} query=${query} onChange=${onChange} />
    ${query.within === "own" && html`<${Day} name="after" query=${query} onChange=${onChange} /><${Day} name="before" query=${query} onChange=${onChange} />`}
    <${Choice} name="owner" values=${["me", "shared"]} query=${query} onChange=${onChange} />
    ${
      isNarrowed &&
      html`<${Button}
        icon="close"
        onClick=${() => onChange({ type: "", within: "", after: "", before: "", owner: "", folder: "" })}
        >${text("search.everything")}<//
      >`
    }
  </div>`;
}

/** @param {{name: string, values: string[], query: Query, onChange: (change: Query) => void}} properties */
function Choice({ name, values, query, onChange }) {
  return html`<select
    aria-label=${text(`search.${name}`)}
    value=${query[name] ?? ""}
    onChange=${(/** @type {any} */ event) => onChange({ [name]: event.currentTarget.value })}
  >
    <option value="">${text(`search.${name}.any`)}</option>
    ${values.map((value) => html`<option key=${value} value=${value}>${text(`search.${name}.${value}`)}</option>`)}
  </select>`;
}

/** @param {{name: string, query: Query, onChange: (change: Query) => void}} properties */
function Day({ name, query, onChange }) {
  return html`<input
    type="date"
    aria-label=${text(`search.${name}`)}
    value=${query[name] ?? ""}
    onChange=${(/** @type {any} */ event) => onChange({ [name]: event.currentTarget.value })}
  />`;
}
