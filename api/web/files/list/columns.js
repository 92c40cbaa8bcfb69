/** The names of the columns: each sorts the list. */

import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { sort } from "./look.js";

/** @typedef {import("./items/ordering.js").SortKey} SortKey */
/** @typedef {import("./items/listing.js").Listing} Listing */

/** @type {SortKey[]} */
export const COLUMNS = ["name", "modified", "owner", "size"];

/** Sort a list by a column; by the same again, the other way round. @param {Listing} listing @param {SortKey} key */
export function sortBy(listing, key) {
  const now = listing.sort;
  const next = { key, descending: now?.key === key ? !now.descending : key === "modified" || key === "size" };
  if (listing.kind === "folder") sort.value = next;
  void listing.reorder(next);
}

/** @param {{listing: Listing, sort: import("./items/ordering.js").Sort | null}} properties */
export function Columns({ listing, sort: now }) {
  return html`<div role="rowgroup" class="columns">
    <div role="row" class="item-columns" aria-rowindex="1">
      ${COLUMNS.map((key) => html`<${Column} key=${key} listing=${listing} column=${key} now=${now} />`)}
      <div role="columnheader" class="cell-more"><span class="hidden">${text("files.column.actions")}</span></div>
    </div>
  </div>`;
}

/** @param {{listing: Listing, column: SortKey, now: import("./items/ordering.js").Sort | null}} properties */
function Column({ listing, column, now }) {
  const isSorted = now?.key === column;
  const title = text(
    column === "modified" && listing.kind === "trash" ? "files.column.trashed" : `files.column.${column}`,
  );
  return html`<div
    role="columnheader"
    class=${`cell-${column}`}
    aria-sort=${isSorted ? (now.descending ? "descending" : "ascending") : undefined}
  >
    <button type="button" onClick=${() => sortBy(listing, column)}>
      ${title}${isSorted && html`<${Icon} name=${now.descending ? "down" : "up"} />`}
    </button>
  </div>`;
}
