/** The line between the sides: dragged, or moved by keys. */

import { html, useEffect, useRef, useState } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";

const KEPT = "files-share";
const LEAST = 25;
const MOST = 75;
const STEP = 2;
const USUAL = 58;

/** A separator that can be moved (WAI-ARIA window splitter); its value is the width of the files in percent. */
export function Divider() {
  const [share, setShare] = useState(() => Number(localStorage.getItem(KEPT)) || USUAL);
  const dragging = useRef(false);
  useEffect(() => {
    document.documentElement.style.setProperty("--files-share", `${share}%`);
    localStorage.setItem(KEPT, String(share));
  }, [share]);
  const put = (/** @type {number} */ value) => setShare(Math.round(Math.min(MOST, Math.max(LEAST, value))));
  const press = (/** @type {KeyboardEvent} */ event) => {
    const to = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: LEAST, End: MOST }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    put(to);
  };
  const move = (/** @type {PointerEvent} */ event) => dragging.current && put((event.clientX / innerWidth) * 100);
  const take = (/** @type {PointerEvent} */ event) => {
    dragging.current = true;
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
  };
  return html`<div
    class="divider"
    role="separator"
    tabindex="0"
    aria-orientation="vertical"
    aria-label=${text("app.divider")}
    aria-valuenow=${share}
    aria-valuemin=${LEAST}
    aria-valuemax=${MOST}
    onKeyDown=${press}
    onPointerDown=${take}
    onPointerMove=${move}
    onPointerUp=${() => (dragging.current = false)}
    onDblClick=${() => put(USUAL)}
  ></div>`;
}
