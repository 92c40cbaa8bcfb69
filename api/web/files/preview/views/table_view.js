/** A table of values, of which only the rows in view are drawn. */

import { Button } from "../../../shared/components/button.js";
import { Empty, Failure, Loading } from "../../../shared/components/states.js";
import { VirtualList } from "../../../shared/components/virtual_list.js";
import { html, useMemo } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";
import { suffixOf } from "../kinds.js";
import { parseTable, separatorOf } from "./csv.js";
import { useText } from "./text_view.js";

const ROW = 34;
const NARROWEST = 4;
const WIDEST = 32;
const MEASURED = 200;

/** @param {{item: import("../kinds.js").Item, passage: import("../passage.js").Passage}} properties */
export function TableView({ item, passage }) {
  const shown = useText(item, { ...passage, start: null, end: null });
  const whole = shown.parts.map((part) => part.text).join("");
  const rows = useMemo(
    () => parseTable(whole, suffixOf(item.name) === "tsv" ? "\t" : separatorOf(whole)),
    [whole, item.name],
  );
  if (shown.error) return html`<${Failure} error=${shown.error} onRetry=${shown.begin} />`;
  if (!shown.parts.length) return html`<${Loading} />`;
  if (!rows.length) return html`<${Empty} icon="sheet" title=${text("preview.empty")} />`;
  const columns = columnsOf(rows);
  const style = {
    gridTemplateColumns: [`${String(rows.length).length + 4}ch`, ...columns.map((width) => `${width}ch`)].join(" "),
  };
  const [head, ...body] = rows;
  const line = (/** @type {number} */ index) =>
    html`<${Line} key=${index} number=${index + 2} cells=${body[index]} columns=${columns} style=${style} />`;
  const outer = {
    role: "table",
    tabindex: 0,
    "aria-label": item.name,
    "aria-rowcount": rows.length,
    "aria-colcount": columns.length,
  };
  const header = html`<div class="table-head" role="rowgroup">
    <${Line} number=${1} cells=${head} columns=${columns} style=${style} isHead />
  </div>`;
  return html`<div class="table-view">
    <${VirtualList}
      class="table-rows"
      outer=${outer}
      count=${body.length}
      rowHeight=${ROW}
      rows=${{ role: "rowgroup" }}
      draw=${line}
      header=${header}
    />
    ${shown.more && html`<${Button} icon="expand" onClick=${shown.more}>${text("preview.more")}<//>`}
  </div>`;
}

/** @param {{number: number, cells: string[], columns: number[], style: any, isHead?: boolean}} properties */
function Line({ number, cells, columns, style, isHead = false }) {
  return html`<div class="table-line" role="row" aria-rowindex=${number} style=${style}>
    <span class="table-number" role="rowheader">${number}</span>
    ${columns.map(
      (_, index) =>
        html`<span
          role=${isHead ? "columnheader" : "cell"}
          class=${isNumber(cells[index]) && !isHead ? "number" : ""}
          title=${cells[index]}
        >
          <bdi>${cells[index] ?? ""}</bdi>
        </span>`,
    )}
  </div>`;
}

/** @param {string | undefined} value */
const isNumber = (value) => Boolean(value) && /^[-+]?[\d.,\s]+%?$/.test(String(value));

/** Return how wide each column is, in letters, by its first rows. @param {string[][]} rows */
function columnsOf(rows) {
  const first = rows.slice(0, MEASURED);
  const count = Math.max(...first.map((row) => row.length));
  return Array.from({ length: count }, (_, index) => {
    const longest = Math.max(...first.map((row) => widthOf(row[index] ?? "")));
    return Math.min(WIDEST, Math.max(NARROWEST, longest + 3));
  });
}

/** Chinese characters are twice as wide as letters. @param {string} value */
const widthOf = (value) => value.length + (value.match(/[\u2e80-\uffef]/g)?.length ?? 0);
