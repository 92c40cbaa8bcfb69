/** One item: a line of the list, or a picture. What happens on it is handled by the list around it. */

import { Icon } from "../../shared/components/icon.js";
import { Component, html } from "../../shared/preact.js";
import { moment, shortDate, size } from "../../shared/texts/format.js";
import { me } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { momentOf } from "./items/ordering.js";
import { RenameField } from "./rename_field.js";
import { iconOf, indexMark } from "./symbols.js";

/** @typedef {import("./items/ordering.js").Item} Item */

/** The id of an item's element. @param {string} id */
export const elementId = (id) => `item-${id}`;

/**
 * @typedef {object} RowProperties
 * @property {Item} item
 * @property {number} index
 * @property {boolean} isChosen
 * @property {boolean} isActive
 * @property {boolean} isCut
 * @property {boolean} isRenaming
 * @property {boolean} isPicture
 * @property {string} mark who changed it a moment ago
 */

/** Drawn anew only if one of its properties is another one: a list of thousands stays smooth. */
export class Row extends Component {
  /** @override @param {any} next */
  shouldComponentUpdate(next) {
    return Object.keys(next).some((name) => next[name] !== /** @type {any} */ (this.props)[name]);
  }

  /** @override */
  render() {
    const properties = /** @type {RowProperties} */ (/** @type {unknown} */ (this.props));
    const { item, index, isChosen, isActive, isCut, isPicture, mark } = properties;
    const flags = [isActive && "active", isCut && "cut", mark && `marked ${mark}`, item.kind].filter(Boolean);
    return html`<div
      role="row"
      id=${elementId(item.id)}
      class=${`item ${flags.join(" ")}`}
      aria-rowindex=${index + 2}
      aria-selected=${isChosen}
      data-index=${index}
    >
      ${isPicture ? html`<${PictureCell} ...${properties} />` : html`<${Cells} ...${properties} />`}
    </div>`;
  }
}

/** @param {RowProperties} properties */
function Cells({ item, isRenaming, mark }) {
  return html`<div role="gridcell" class="cell-name">
      <span class="check" data-part="check"><${Icon} name="check" /></span>
      <${Icon} name=${iconOf(item)} class="kind" />
      ${isRenaming ? html`<${RenameField} item=${item} />` : html`<${Name} item=${item} mark=${mark} />`}
    </div>
    <div role="gridcell" class="cell-modified" title=${moment(momentOf(item))}>${shortDate(momentOf(item))}</div>
    <div role="gridcell" class="cell-owner">${ownerOf(item)}</div>
    <div role="gridcell" class="cell-size">${sizeOf(item)}</div>
    <div role="gridcell" class="cell-more"><${More} item=${item} /></div>`;
}

/** @param {RowProperties} properties */
function PictureCell({ item, isRenaming, mark }) {
  const source = `/api/drive/files/${item.id}/thumbnail?size=256&v=${item.version}`;
  return html`<div role="gridcell" class="picture">
    <div class="picture-frame">
      ${item.has_thumbnail ? html`<img src=${source} alt="" loading="lazy" draggable=${false} onError=${hide} />` : ""}
      <${Icon} name=${iconOf(item)} class="kind" />
      <span class="check" data-part="check"><${Icon} name="check" /></span>
      <${More} item=${item} />
    </div>
    ${isRenaming ? html`<${RenameField} item=${item} />` : html`<${Name} item=${item} mark=${mark} />`}
  </div>`;
}

/** A damaged picture has no thumbnail: its icon stands there. @param {Event} event */
function hide(event) {
  /** @type {HTMLElement} */ (event.currentTarget).remove();
}

/** @param {{item: Item, mark: string}} properties */
function Name({ item, mark }) {
  const index = indexMark(item);
  return html`<span class="name-part">
    <span class="name-line">
      <span class="name" data-part="name" title=${item.name}>${item.name}</span>
      ${mark && html`<${Mark} icon=${mark === "assistant" ? "spark" : "person"} words=${text(`files.mark.${mark}`)} />`}
      ${item.starred && html`<${Mark} icon="star" words=${text("files.starred_mark")} class="star" />`}
      ${item.shared && html`<${Mark} icon="people" words=${text("files.shared_mark")} />`}
      ${index && html`<${Mark} icon=${index.icon} words=${text(`files.index.${index.state}`)} />`}
    </span>
    <span class="under">${[shortDate(momentOf(item)), sizeOf(item)].filter(Boolean).join(" · ")}</span>
  </span>`;
}

/** @param {{icon: string, words: string, class?: string}} properties */
function Mark({ icon, words, class: extra = "" }) {
  return html`<span class=${`mark-icon ${extra}`} title=${words}><${Icon} name=${icon} label=${words} /></span>`;
}

/** @param {{item: Item}} properties */
function More({ item }) {
  const label = text("files.actions_of", { name: item.name });
  return html`<button type="button" class="icon-button more" tabindex="-1" data-part="more" aria-label=${label}>
    <${Icon} name="more" />
  </button>`;
}

/** @param {Item} item */
const ownerOf = (item) => (item.owner === me.value?.email ? text("files.me") : item.owner);

/** @param {Item} item */
const sizeOf = (item) =>
  item.kind === "folder" ? text("files.items", { count: item.child_count ?? 0 }) : size(item.size);
