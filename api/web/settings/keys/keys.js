/** The person's API keys. */

import { get, patch, post, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { showDialog } from "../../shared/components/dialogs.js";
import { html, useState } from "../../shared/preact.js";
import { shortDate } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Field, Form, valueOf } from "../form/form.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { FormDialog } from "../form/form_dialog.js";
import { Copyable, Entry, Nothing, Part, Section, askAndDo } from "../form/section.js";
import { Scopes, chosenScopes } from "./scopes.js";
import { isInUse } from "./in_use.js";

await loadTexts(import.meta.url);

/** @typedef {import("./in_use.js").Key} Key */

const DAYS = [30, 90, 365];
const TIERS = /** @type {const} */ (["core", "all", "whole"]);

/** The section. */
export function Keys() {
  const keys = useLoaded(async () => /** @type {Key[]} */ ((await get("/api/auth/keys")).items));
  const revoke = async (/** @type {Key} */ key) => {
    const done = await askAndDo({
      title: text("keys.revoke_title", { name: key.name }),
      body: text("keys.revoke_hint"),
      action: text("keys.revoke"),
      act: () => remove(`/api/auth/keys/${key.id}`),
      done: text("keys.revoked", { name: key.name }),
    });
    if (done) await keys.reload();
  };
  const change = async (/** @type {Key} */ key) => {
    if (await showDialog((close) => html`<${ChangeScopes} apiKey=${key} close=${close} />`)) await keys.reload();
  };
  return html`<${Section} title=${text("settings.section.keys")} hint=${text("keys.hint")}>
    <${NewKey} onMade=${keys.reload} />
    <${Part} title=${text("keys.yours")}>
      <${Loaded} of=${keys}>
        ${(/** @type {Key[]} */ items) => html`<${List} items=${items} onRevoke=${revoke} onChange=${change} />`}
      <//>
    <//>
  <//>`;
}

/** @param {{onMade: () => Promise<void>}} properties */
function NewKey({ onMade }) {
  const [made, setMade] = useState(/** @type {{name: string, key: string} | null} */ (null));
  const create = async (/** @type {FormData} */ fields) => {
    const days = Number(valueOf(fields, "days")) || null;
    const key = { name: valueOf(fields, "name"), scopes: chosenScopes(fields), days, tools: chosenTools(fields) };
    setMade(await post("/api/auth/keys", key));
    await onMade();
  };
  return html`<${Part} title=${text("keys.new")}>
    ${
      made &&
      html`<div class="settings-secret">
        <p role="status">${text("keys.made", { name: made.name })}</p>
        <${Copyable} label=${text("keys.secret", { name: made.name })} value=${made.key} />
        <div class="row"><${Button} onClick=${() => setMade(null)}>${text("keys.done")}<//></div>
      </div>`
    }
    <${Form} onSave=${create} action=${text("keys.create")} reset>
      <${Field} name="name" label=${text("keys.name")} hint=${text("keys.name_hint")} required />
      <${Scopes} chosen=${["read"]} />
      <${Field} name="days" label=${text("keys.days")}>
        ${DAYS.map((days) => html`<option value=${days} selected=${days === 90}>${text("keys.days_count", { count: days })}</option>`)}
        <option value="">${text("keys.days_never")}</option>
      <//>
      <${Tools} chosen=${null} />
    <//>
  <//>`;
}

/** @param {{items: Key[], onRevoke: (key: Key) => void, onChange: (key: Key) => void}} properties */
function List({ items, onRevoke, onChange }) {
  const used = items.filter((key) => isInUse(key));
  const ended = items.filter((key) => !isInUse(key));
  return html`
    ${!used.length && html`<${Nothing}>${text("keys.none")}<//>`}
    <ul class="settings-list">
      ${used.map(
        (key) =>
          html`<${Entry}
            key=${key.id}
            title=${key.name}
            facts=${facts(key)}
            actions=${html`<${Button}
                aria-label=${text("keys.change_title", { name: key.name })}
                onClick=${() => onChange(key)}
                >${text("keys.change")}<//
              ><${Button}
                kind="danger"
                aria-label=${text("keys.revoke_title", { name: key.name })}
                onClick=${() => onRevoke(key)}
                >${text("keys.revoke")}<//
              >`}
          />`,
      )}
    </ul>
    ${
      ended.length > 0 &&
      html`<details>
        <summary>${text("keys.ended", { count: ended.length })}</summary>
        <ul class="settings-list">
          ${ended.map((key) => html`<${Entry} key=${key.id} title=${key.name} facts=${facts(key)} />`)}
        </ul>
      </details>`
    }
  `;
}

/** @param {Key} key */
function facts(key) {
  const scopes = key.scopes.map((scope) => text(`keys.scope.${scope}`)).join(" · ");
  const used = key.last_used_at ? text("keys.used", { date: shortDate(key.last_used_at) }) : text("keys.never_used");
  const end = key.revoked_at
    ? text("keys.was_revoked", { date: shortDate(key.revoked_at) })
    : key.expires_at
      ? text("keys.expires", { date: shortDate(key.expires_at) })
      : text("keys.no_end");
  return [html`<code>${key.prefix}…</code> ${scopes}`, `${used} · ${end}`];
}

/** @param {{apiKey: Key, close: (changed?: boolean) => void}} properties */
function ChangeScopes({ apiKey, close }) {
  const save = async (/** @type {FormData} */ fields) => {
    await patch(`/api/auth/keys/${apiKey.id}`, { scopes: chosenScopes(fields), tools: chosenTools(fields) });
    close(true);
  };
  return html`<${FormDialog}
    title=${text("keys.change_title", { name: apiKey.name })}
    action=${text("settings.save")}
    onSave=${save}
    onClose=${close}
  >
    <${Scopes} chosen=${apiKey.scopes} />
    <${Tools} chosen=${apiKey.tools} />
  <//>`;
}

/** @param {{chosen: Key["tools"]}} properties */
function Tools({ chosen }) {
  return html`<${Field} name="tools" label=${text("keys.tools")} hint=${text("keys.tools_hint")}>
    <option value="" selected=${!chosen}>${text("keys.tools.default")}</option>
    ${TIERS.map((tier) => html`<option value=${tier} selected=${tier === chosen}>${text(`keys.tools.${tier}`)}</option>`)}
  <//>`;
}

/** @param {FormData} fields */
function chosenTools(fields) {
  return TIERS.find((tier) => tier === valueOf(fields, "tools")) ?? null;
}
