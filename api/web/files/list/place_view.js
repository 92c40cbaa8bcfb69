/** A folder, or a list such as the trash: its head, and what is in it. */

import { Button } from "../../shared/components/button.js";
import { Empty, Failure, Loading } from "../../shared/components/states.js";
import { html, useEffect, useMemo } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { useTitle } from "../../shared/title.js";
import { mayAdd } from "../actions/folder_menu.js";
import { upload } from "../actions/operations.js";
import { Toolbar } from "../actions/toolbar.js";
import { remember } from "../navigation/ancestors.js";
import { ItemList } from "./item_list.js";
import { Listing } from "./items/listing.js";
import { keepLive } from "./items/live.js";
import { listing as shown } from "./items/shown.js";
import { revealed } from "./keyboard.js";
import { sort } from "./look.js";
import { renaming, selection } from "./selection/chosen.js";
import { NONE, at, kept } from "./selection/selection.js";

/** @typedef {import("./items/belonging.js").Kind} Kind */

/** Where the person was before: it is found again in the list that holds it. @type {string | null} */
let cameFrom = null;

/** Tell which item is open, so that its folder's list begins there. @param {string} id */
export function comesFrom(id) {
  cameFrom = id;
}

/** @param {{kind: Kind, folderId: string}} properties */
export function PlaceView({ kind, folderId }) {
  const listing = useListing(kind, folderId);
  const title =
    kind === "folder" ? listing.folder.value?.name || text("files.place.drive") : text(`files.place.${kind}`);
  useTitle(kind === "folder" && !listing.folder.value?.parent_id ? "" : title);
  return html`<${Toolbar} listing=${listing} />
    <${ItemList} listing=${listing} label=${title}><${Nothing} listing=${listing} /><//>`;
}

/** @param {{listing: Listing}} properties */
function Nothing({ listing }) {
  const { kind } = listing;
  if (listing.error.value) return html`<${Failure} error=${listing.error.value} onRetry=${() => listing.load()} />`;
  if (listing.isLoading.value) return html`<${Loading} />`;
  const may = mayAdd(listing);
  const icon = { folder: "upload", trash: "trash", recent: "clock", shared: "people", starred: "star" }[kind];
  return html`<${Empty} icon=${icon} title=${text(`files.empty.${kind}`)} hint=${hintOf(kind, may)}>
    ${may && html`<${Button} icon="upload" onClick=${() => upload(listing.folderId)}>${text("files.action.upload_files")}<//>`}
  <//>`;
}

/** @param {Kind} kind @param {boolean} may whether the person may add something here */
function hintOf(kind, may) {
  if (kind === "folder" && !may) return "";
  // Nobody drags files with a finger.
  const isTouched = kind === "folder" && matchMedia("(pointer: coarse)").matches;
  return text(`files.empty_hint.${isTouched ? "folder_touch" : kind}`);
}

/**
 * The list of a place, loaded and kept as the drive is.
 * @param {Kind} kind
 * @param {string} folderId
 */
function useListing(kind, folderId) {
  const listing = useMemo(() => new Listing(kind, folderId, kind === "folder" ? sort.peek() : null), []);
  useEffect(() => {
    shown.value = listing;
    selection.value = cameFrom ? at(NONE, cameFrom) : NONE;
    renaming.value = null;
    revealed.value = null;
    void listing.load().then(() => {
      const index = listing.items.peek().findIndex((item) => item.id === selection.peek().active);
      if (index >= 0) revealed.value = index;
      else selection.value = { ...selection.peek(), active: null, anchor: null };
    });
    const end = keepLive(listing);
    const endKeeping = keepSelection(listing);
    const endFolder = listing.folder.subscribe((folder) => {
      if (!folder) return;
      cameFrom = folder.id;
      remember(folder);
    });
    return () => {
      end();
      endKeeping();
      endFolder();
      listing.close();
    };
  }, []);
  return listing;
}

/** What is chosen stays chosen as long as it is in the list. @param {Listing} listing */
function keepSelection(listing) {
  /** @type {string[]} */
  let before = [];
  return listing.items.subscribe((items) => {
    const after = items.map((item) => item.id);
    if (!listing.isLoading.peek()) selection.value = kept(selection.peek(), before, after);
    before = after;
  });
}
