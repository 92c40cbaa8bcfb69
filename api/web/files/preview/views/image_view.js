/** A picture: as large as there is room, or as large as the person likes. */

import { IconButton } from "../../../shared/components/button.js";
import { html, useState } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";

const STEP = 1.5;
const LEAST = 0.1;
const MOST = 8;

/** @param {{source: string, name: string, onFailure: () => void}} properties */
export function ImageView({ source, name, onFailure }) {
  const [width, setWidth] = useState(0);
  /** null: as large as there is room. */
  const [zoom, setZoom] = useState(/** @type {number | null} */ (null));
  const change = (/** @type {number} */ factor) => setZoom(Math.min(MOST, Math.max(LEAST, (zoom ?? 1) * factor)));
  const style = zoom && width ? { width: `${Math.round(width * zoom)}px` } : undefined;
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "+" || event.key === "=") change(STEP);
    else if (event.key === "-") change(1 / STEP);
    else if (event.key === "0") setZoom(null);
  };
  return html`<div class="image-view" onKeyDown=${keys}>
    <div class=${`image-room ${zoom ? "zoomed" : ""}`} tabindex="0" role="region" aria-label=${name}>
      <img
        src=${source}
        alt=${name}
        style=${style}
        onLoad=${(/** @type {any} */ event) => setWidth(event.currentTarget.naturalWidth)}
        onError=${onFailure}
        onDblClick=${() => setZoom(zoom ? null : 1)}
      />
    </div>
    <div class="image-tools" role="toolbar" aria-label=${text("preview.zoom")}>
      <${IconButton} icon="minus" label=${text("preview.zoom_out")} onClick=${() => change(1 / STEP)} />
      <button type="button" class="button" onClick=${() => setZoom(zoom ? null : 1)}>
        ${zoom ? `${Math.round(zoom * 100)} %` : text("preview.fit")}
      </button>
      <${IconButton} icon="plus" label=${text("preview.zoom_in")} onClick=${() => change(STEP)} />
    </div>
  </div>`;
}
