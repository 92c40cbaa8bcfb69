/** What is different in two versions. */

import { get } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Diff } from "../../shared/components/diff.js";
import { Failure, Loading } from "../../shared/components/states.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/**
 * @param {object} properties
 * @param {string} properties.fileId
 * @param {[number, number]} properties.pair
 * @param {number} properties.count the number of the newest version
 * @param {(pair: [number, number] | null) => void} properties.onChange
 */
export function Comparison({ fileId, pair: [from, to], count, onChange }) {
  const [found, setFound] = useState(
    /** @type {import("../../shared/api/types.js").Schema<"VersionDiff"> | null} */ (null),
  );
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    setFound(null);
    setError(null);
    get(`/api/drive/files/${fileId}/versions/${from}/diff`, { to }).then(setFound, setError);
  };
  useEffect(load, [fileId, from, to]);
  return html`
    <div class="row versions-pair">
      <${Button} icon="back" onClick=${() => onChange(null)}>${text("versions.all")}<//>
      <${Choice}
        label=${text("versions.from")}
        value=${from}
        count=${count}
        onChange=${(/** @type {number} */ one) => onChange([one, to])}
      />
      <${Choice}
        label=${text("versions.to")}
        value=${to}
        count=${count}
        onChange=${(/** @type {number} */ one) => onChange([from, one])}
      />
    </div>
    ${error ? html`<${Failure} error=${error} onRetry=${load} />` : null}
    ${!error && !found ? html`<${Loading} />` : null}
    ${found && html`<${Diff} label=${text("versions.difference", { from, to })} diff=${found.diff} truncated=${found.truncated} />`}
  `;
}

/** @param {{label: string, value: number, count: number, onChange: (number: number) => void}} properties */
function Choice({ label, value, count, onChange }) {
  const numbers = Array.from({ length: count }, (_, index) => count - index);
  return html`<label class="field">
    <span>${label}</span>
    <select value=${value} onChange=${(/** @type {any} */ event) => onChange(Number(event.currentTarget.value))}>
      ${numbers.map((number) => html`<option value=${number} selected=${number === value}>${text("versions.number", { number })}</option>`)}
    </select>
  </label>`;
}
