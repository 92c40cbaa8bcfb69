/** What a search found: as one types, by name, words and meaning. */

import { Button } from "../../shared/components/button.js";
import { Empty, Failure, Loading } from "../../shared/components/states.js";
import { isComposing, isTyping } from "../../shared/keys.js";
import { go } from "../../shared/location.js";
import { html, useEffect, useLayoutEffect, useRef } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { useTitle } from "../../shared/title.js";
import { Filters } from "./filters.js";
import { HitRow } from "./hit_row.js";
import { keepWords, recentWords } from "./recent.js";
import { useHits } from "./hits.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/search.css")]);

/** @typedef {Record<string, string>} Query `q`, `type`, `after`, `before`, `owner`, `folder` */

/** @param {{query: Query}} properties */
export function SearchResults({ query }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const found = useHits(query);
  useTitle(query.q || text("search.title"));
  const set = (/** @type {Query} */ change) => go(["search"], { ...query, ...change }, { replace: true });
  useLayoutEffect(() => field.current?.focus(), []);
  useSlash(field);
  return html`<section class="search-results" aria-label=${text("search.title")} onKeyDown=${moveInResults}>
    <form
      role="search"
      class="search-head"
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        keepWords(query.q ?? "");
      }}
    >
      <input
        ref=${field}
        type="search"
        class="search-field"
        value=${query.q ?? ""}
        aria-label=${text("search.words")}
        placeholder=${text("search.placeholder")}
        onInput=${(/** @type {any} */ event) => set({ q: event.currentTarget.value })}
        onBlur=${() => found.hits?.length && keepWords(query.q ?? "")}
      />
      <${Filters} query=${query} onChange=${set} />
    </form>
    <${Found} query=${query} found=${found} set=${set} />
  </section>`;
}

/** @param {{query: Query, found: ReturnType<typeof useHits>, set: (change: Query) => void}} properties */
function Found({ query, found, set }) {
  const { hits, error, hasMore, isLoading, more, retry, note } = found;
  const words = (query.q ?? "").trim();
  if (!words) return html`<${Recent} set=${set} />`;
  if (error) return html`<${Failure} error=${error} onRetry=${retry} />`;
  if (!hits) return html`<${Loading} label=${text("search.searching")} />`;
  if (!hits.length)
    return html`<${Empty} icon="search" title=${text("search.none", { words })} hint=${text("search.none_hint")} />`;
  return html`<p class="hidden" role="status">${text("search.count", { count: hits.length })}</p>
    ${note && html`<p class="quiet search-note">${note}</p>`}
    <ol class="hits" aria-label=${text("search.title")} aria-busy=${isLoading}>
      ${hits.map((hit, index) => html`<${HitRow} key=${`${hit.file.id} ${hit.start} ${index}`} hit=${hit} words=${words} />`)}
    </ol>
    ${hasMore && html`<div class="row search-more"><${Button} onClick=${more} disabled=${isLoading}>${text("search.more")}<//></div>`}`;
}

/** @param {{set: (change: Query) => void}} properties */
function Recent({ set }) {
  const recent = recentWords();
  if (!recent.length)
    return html`<${Empty} icon="search" title=${text("search.begin")} hint=${text("search.begin_hint")} />`;
  return html`<h3 class="search-note">${text("search.recent")}</h3>
    <ul class="hits">
      ${recent.map(
        (words) =>
          html`<li key=${words}><${Button} icon="history" onClick=${() => set({ q: words })}>${words}<//></li>`,
      )}
    </ul>`;
}

/** `/` leads to the field. @param {{current: HTMLInputElement | null}} field */
function useSlash(field) {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.select();
      field.current?.focus();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** The arrows lead from the field through what was found. @param {KeyboardEvent} event */
function moveInResults(event) {
  if (isComposing(event) || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
  if (event.target instanceof HTMLSelectElement) return;
  const pane = /** @type {HTMLElement} */ (event.currentTarget);
  /** @type {HTMLElement[]} */
  const stops = [...pane.querySelectorAll(/** @type {"a"} */ (".search-field, .hits a, .hits button"))];
  const at = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (at < 0 || !to) return;
  event.preventDefault();
  to.focus();
}
