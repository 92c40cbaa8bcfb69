/** The source of a page: its bytes as text, where the readers give only the words that it shows. */

import { send } from "../../../shared/api/request.js";
import { Empty, Failure, Loading } from "../../../shared/components/states.js";
import { html, useEffect, useState } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";
import { contentAddress } from "../content.js";
import { decode } from "../encoding.js";
import { NumberedText } from "./text_view.js";

/** @param {{item: import("../kinds.js").Item & {at?: string}, passage: import("../passage.js").Passage}} properties */
export function SourceView({ item, passage }) {
  const [source, setSource] = useState(/** @type {string | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const version = passage.version ?? item.version;
  const load = () => {
    setError(null);
    send("GET", contentAddress(item, version))
      .then((response) => response.arrayBuffer())
      .then((bytes) => setSource(decode(new Uint8Array(bytes)).text), setError);
  };
  useEffect(load, [item.id, item.version, version]);
  if (error) return html`<${Failure} error=${error} onRetry=${load} />`;
  if (source === null) return html`<${Loading} />`;
  if (!source) return html`<${Empty} icon="text" title=${text("preview.empty")} />`;
  return html`<div class="text-view numbered" tabindex="0" role="region" aria-label=${item.name}>
    <${NumberedText} text=${source} written=${source} />
  </div>`;
}
