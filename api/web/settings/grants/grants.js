/** What the assistant may do now without asking. */

import { get, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { goToFolder } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { moment } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Entry, Nothing, Section, attempt } from "../form/section.js";

await loadTexts(import.meta.url);

/** @typedef {import("../../shared/api/types.js").Schema<"GrantView">} Grant */
/** @typedef {{grant: Grant, folders: {id: string, name: string}[]}} Known */

/** The section. */
export function Grants() {
  const grants = useLoaded(load);
  const withdraw = async (/** @type {Grant} */ grant) => {
    if (await attempt(() => remove(`/api/grants/${grant.grant_id}`), text("grants.withdrawn"))) await grants.reload();
  };
  return html`<${Section} title=${text("settings.section.grants")} hint=${text("grants.hint")}>
    <${Loaded} of=${grants}>
      ${(/** @type {Known[]} */ items) => html`
        ${!items.length && html`<${Nothing}>${text("grants.none")}<//>`}
        <ul class="settings-list">
          ${items.map(({ grant, folders }) => {
            const kinds = grant.kinds.map((kind) => text(`grants.kind.${kind}`)).join(", ");
            return html`<${Entry}
              key=${grant.grant_id}
              title=${kinds}
              facts=${[
                html`${text("grants.inside")}${" "}${folders.map(
                  (one) => html`<${Button} onClick=${() => goToFolder(one.id)}>${one.name || text("grants.root")}<//>`,
                )}`,
                text("grants.bounds", {
                  used: grant.used,
                  count: grant.max_items,
                  date: moment(grant.expires_at),
                }),
              ]}
              actions=${html`<${Button} kind="danger" onClick=${() => withdraw(grant)}
                >${text("grants.withdraw")}<span class="hidden"> ${kinds}</span><//
              >`}
            />`;
          })}
        </ul>
      `}
    <//>
  <//>`;
}

/** @returns {Promise<Known[]>} */
async function load() {
  const grants = /** @type {Grant[]} */ ((await get("/api/grants")).items);
  return Promise.all(grants.map(async (grant) => ({ grant, folders: await Promise.all(grant.folder_ids.map(named)) })));
}

/** A folder that is gone, or hidden, is named by its id. @param {string} id */
const named = (id) =>
  get(`/api/drive/items/${id}`).then(
    (item) => ({ id, name: String(item.name) }),
    () => ({ id, name: id }),
  );
