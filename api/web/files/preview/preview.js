/** One open file: what is in it, at the passage that is cited. */

import { get } from "../../shared/api/request.js";
import { Failure, Loading } from "../../shared/components/states.js";
import { Lazy } from "../../shared/components/lazy.js";
import { onDriveChange } from "../../shared/drive_events.js";
import { goToFile } from "../../shared/location.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { useTitle } from "../../shared/title.js";
import { watchIndexing } from "../list/items/indexing.js";
import { IndexState } from "./facts.js";
import { PreviewHeader } from "./header.js";
import { PassageBar } from "./passage_bar.js";
import { passageOf } from "./passage.js";
import { useSiblings } from "./siblings.js";
import { Viewer, isTwofold } from "./viewer.js";

/** @typedef {import("./kinds.js").Item} Item */

const editor = () => import("../editor/editor.js").then((module) => module.Editor);

/**
 * @param {object} properties
 * @param {string} properties.id
 * @param {Record<string, string>} properties.query of the place: `version`, `start`, `end`, `place`, `edit`
 */
export function Preview({ id, query }) {
  const { item, error, load } = useItem(id);
  const siblings = useSiblings(item);
  const passage = passageOf(query);
  const [asText, setAsText] = useState(passage.start !== null);
  useEffect(() => setAsText(passage.start !== null), [id, passage.start]);
  useArrows(siblings);
  useTitle(item?.name ?? "");
  if (error) return html`<${Failure} error=${error} onRetry=${load} />`;
  if (!item || item.id !== id) return html`<${Loading} />`;
  if (query.edit) return html`<${Lazy} key=${`edit ${id}`} load=${editor} item=${item} />`;
  const version = passage.version ?? item.version;
  return html`<div class="preview">
    <${PreviewHeader} item=${item} version=${version} siblings=${siblings} />
    <${IndexState} item=${item} />
    <${PassageBar} item=${item} passage=${passage} asText=${asText} onChange=${isTwofold(item) ? setAsText : null} />
    <${Viewer} key=${`${id} ${version}`} item=${item} passage=${passage} asText=${asText} />
  </div>`;
}

/** The file as it is now, whoever changes it. @param {string} id */
function useItem(id) {
  const [item, setItem] = useState(/** @type {Item | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const load = () => {
    get(`/api/drive/items/${encodeURIComponent(id)}`).then((found) => {
      setError(null);
      setItem(found);
    }, setError);
  };
  useEffect(() => {
    setError(null);
    load();
    return onDriveChange((change) => {
      if (change.type === "reset" || change.item_ids?.includes(id)) load();
    });
  }, [id]);
  useEffect(() => {
    if (!item) return undefined;
    // An answer may come after another file was opened.
    const take = (/** @type {Item[]} */ [moved]) => setItem((now) => (now?.id === moved.id ? moved : now));
    return watchIndexing(() => [item], take);
  }, [item]);
  return { item, error, load };
}

/** Left and right lead to the neighbours, unless the key has another meaning where it is pressed. @param {ReturnType<typeof useSiblings>} siblings */
function useArrows({ previous, next }) {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      const to = event.key === "ArrowLeft" ? previous : event.key === "ArrowRight" ? next : null;
      if (!to || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !isFree(event.target)) return;
      event.preventDefault();
      goToFile(to.id);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [previous?.id, next?.id]);
}

/** @param {EventTarget | null} target */
function isFree(target) {
  if (target === document.body) return true;
  if (!(target instanceof HTMLElement) || !target.closest(".preview")) return false;
  return !target.closest("audio, video, [role=toolbar]") && target.scrollWidth <= target.clientWidth;
}
