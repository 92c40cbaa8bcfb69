/** A long list of which only what is in view is drawn. Rows have one height, or lines of several cells do. */

import { html, useEffect, useRef, useState } from "../preact.js";
import { isPrinting } from "../printing.js";

const SPARE = 8;
/** Rows on paper: more than this is a matter for the file itself. */
const MAX_PRINTED = 5000;

/**
 * The window onto `count` rows.
 * @param {number} count
 * @param {number} rowHeight pixels
 * @param {number} top how far it is scrolled, pixels
 * @param {number} height of what is seen, pixels
 * @param {number} columns cells in a row
 */
export function windowOf(count, rowHeight, top, height, columns = 1) {
  const rows = Math.ceil(count / columns);
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  const last = Math.min(rows, Math.ceil((top + height) / rowHeight) + SPARE);
  return {
    start: first * columns,
    end: Math.min(count, last * columns),
    offset: first * rowHeight,
    whole: rows * rowHeight,
  };
}

/**
 * @param {object} properties
 * @param {number} properties.count
 * @param {number} properties.rowHeight
 * @param {(index: number) => any} properties.draw draws one; it gives it its key. Its height is `var(--row-height)`
 * @param {number} [properties.columns]
 * @param {number | null} [properties.reveal] an index that has to be in view
 * @param {string} [properties.class]
 * @param {any} [properties.header] stays above the rows
 * @param {Record<string, any>} [properties.outer] attributes of the element that scrolls
 * @param {Record<string, any>} [properties.rows] attributes of the element around the rows
 * @param {{current: HTMLElement | null}} [properties.scroller] gets the element that scrolls
 */
export function VirtualList({
  count,
  rowHeight,
  draw,
  columns = 1,
  reveal = null,
  class: extra = "",
  header,
  outer = {},
  rows = {},
  scroller,
}) {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ top: 0, height: 800 });
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0 } = element.current ?? {};
    const step = Math.floor(scrollTop / rowHeight) * rowHeight;
    setView((old) => (old.top === step && old.height === clientHeight ? old : { top: step, height: clientHeight }));
  };
  useEffect(() => {
    if (!element.current) return undefined;
    if (scroller) scroller.current = element.current;
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(element.current);
    return () => watching.disconnect();
  }, [rowHeight]);
  useEffect(() => {
    if (reveal === null || reveal < 0 || !element.current) return;
    scrollTo(element.current, Math.floor(reveal / columns) * rowHeight, rowHeight);
    measure();
  }, [reveal, columns, rowHeight]);
  const seen = isPrinting.value ? { top: 0, height: MAX_PRINTED * rowHeight } : view;
  const part = windowOf(count, rowHeight, seen.top, seen.height, columns);
  const drawn = Array.from({ length: Math.max(0, part.end - part.start) }, (_, index) => draw(part.start + index));
  // The styles draw rows by the same measures by which they are counted here.
  const sizes = { "--columns": columns, "--row-height": `${rowHeight}px` };
  return html`<div ...${outer} ref=${element} class=${`virtual ${extra}`} style=${sizes} onScroll=${measure}>
    ${header}
    <div ...${rows} class="virtual-rows" style=${{ height: `${part.whole}px` }}>
      <div class="virtual-part" role="presentation" style=${{ transform: `translateY(${part.offset}px)` }}>
        ${drawn}
      </div>
    </div>
  </div>`;
}

/**
 * Scroll no more than it takes to have a row in view.
 * @param {HTMLElement} element
 * @param {number} top of the row
 * @param {number} height of the row
 */
function scrollTo(element, top, height) {
  const above = element.querySelector(".virtual-rows");
  const header = above instanceof HTMLElement ? above.offsetTop : 0;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + height + header > element.scrollTop + element.clientHeight) {
    element.scrollTop = top + height + header - element.clientHeight;
  }
}
