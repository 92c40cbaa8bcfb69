/** Above a list: where the person is and what can be added; while items are chosen, what can be done with them. */

import { Button, IconButton } from "../../shared/components/button.js";
import { openMenu } from "../../shared/components/menus.js";
import { html } from "../../shared/preact.js";
import { hasScope } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { COLUMNS, sortBy } from "../list/columns.js";
import { isDragging } from "../list/dragging.js";
import { layout } from "../list/look.js";
import { chosenItems, selection } from "../list/selection/chosen.js";
import { cleared } from "../list/selection/selection.js";
import { Crumbs } from "../navigation/crumbs.js";
import { folderMenu, mayAdd } from "./folder_menu.js";
import { emptyTrash } from "./operations.js";
import { actionsFor, menuOf, titleOf } from "./registry.js";

/** @typedef {import("../list/items/listing.js").Listing} Listing */

/** @param {{listing: Listing}} properties */
export function Toolbar({ listing }) {
  const items = isDragging.value ? [] : chosenItems.value;
  return html`<div class="files-top">
    ${items.length ? html`<${Chosen} items=${items} listing=${listing} />` : html`<${Place} listing=${listing} />`}
  </div>`;
}

/** @param {{listing: Listing, items: import("../list/items/ordering.js").Item[]}} properties */
function Chosen({ listing, items }) {
  const main = actionsFor(items, listing.kind).filter((action) => action.isMain);
  const clear = () => (selection.value = cleared(selection.peek()));
  const more = (/** @type {MouseEvent} */ event) =>
    openMenu(/** @type {Element} */ (event.currentTarget), menuOf(items, listing.kind), text("files.more_actions"));
  return html`<div class="chosen" role="toolbar" aria-label=${text("files.chosen_actions")}>
    <${IconButton} icon="close" label=${text("files.clear_selection")} onClick=${clear} />
    <span class="chosen-count">${text("files.chosen", { count: items.length })}</span>
    <span class="chosen-actions">
      ${main.map(
        (action) =>
          html`<${IconButton}
            key=${action.id}
            icon=${action.icon}
            label=${titleOf(action)}
            class=${`at-${action.id}`}
            onClick=${() => action.run(items)}
          />`,
      )}
      <${IconButton} icon="more" label=${text("files.more_actions")} aria-haspopup="menu" onClick=${more} />
    </span>
  </div>`;
}

/** @param {{listing: Listing}} properties */
function Place({ listing }) {
  const hasItems = listing.items.value.length > 0;
  return html`<${Crumbs} listing=${listing} />
    <div class="files-tools">
      ${
        listing.kind === "trash" &&
        hasItems &&
        hasScope("delete") &&
        html`<${Button} icon="trash" onClick=${emptyTrash}>${text("files.empty_trash")}<//>`
      }
      <${LookButton} listing=${listing} />
      ${mayAdd(listing) && html`<${NewButton} listing=${listing} />`}
    </div>`;
}

/** @param {{listing: Listing}} properties */
function NewButton({ listing }) {
  const show = (/** @type {MouseEvent} */ event) =>
    openMenu(/** @type {Element} */ (event.currentTarget), folderMenu(listing), text("files.new"));
  return html`<${Button} kind="main" icon="plus" class="new" aria-haspopup="menu" onClick=${show}
    >${text("files.new")}<//
  >`;
}

/** How the list looks, and its order: columns that a narrow list has no room for are found here. @param {{listing: Listing}} properties */
function LookButton({ listing }) {
  const label = text("files.look");
  const show = (/** @type {MouseEvent} */ event) =>
    openMenu(
      /** @type {Element} */ (event.currentTarget),
      [
        { title: text("files.layout.rows"), checked: layout.value === "rows", run: () => (layout.value = "rows") },
        {
          title: text("files.layout.pictures"),
          checked: layout.value === "pictures",
          run: () => (layout.value = "pictures"),
        },
        {},
        ...COLUMNS.map((key) => ({
          title: text("files.sort_by", { column: text(`files.column.${key}`) }),
          checked: listing.sort?.key === key,
          run: () => sortBy(listing, key),
        })),
      ],
      label,
    );
  const icon = layout.value === "rows" ? "list" : "grid";
  return html`<${IconButton} icon=${icon} label=${label} aria-haspopup="menu" onClick=${show} />`;
}
