/** Accounts, for administrators. */

import { get, patch, post, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { openMenu } from "../../shared/components/menus.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { html, useState } from "../../shared/preact.js";
import { me } from "../../shared/session.js";
import { moment, shortDate, size } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Field, Form, valueOf } from "../form/form.js";
import { FormDialog } from "../form/form_dialog.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Copyable, Entry, Part, Section, askAndDo, attempt } from "../form/section.js";
import { quotaBytes } from "./quota.js";
import { Removal } from "./removal.js";

await loadTexts(import.meta.url);

/** @typedef {import("../../shared/api/types.js").Schema<"UserResult">} Account */

const path = (/** @type {Account} */ account) => `/api/users/${account.id}`;

/** The section. */
export function People() {
  const accounts = useLoaded(async () => /** @type {Account[]} */ ((await get("/api/users")).items));
  return html`<${Section} title=${text("settings.section.people")} hint=${text("people.hint")}>
    <${NewAccount} onMade=${accounts.reload} />
    <${Part} title=${text("people.accounts")}>
      <${Loaded} of=${accounts}>
        ${(/** @type {Account[]} */ items) =>
          html`<ul class="settings-list">
            ${items.map((one) => html`<${Row} key=${one.id} account=${one} everybody=${items} reload=${accounts.reload} />`)}
          </ul>`}
      <//>
    <//>
  <//>`;
}

/** The address where a password is chosen. Without one the account is there all the same: its key has to be shown. @param {string} id */
async function passwordAddress(id) {
  try {
    return (await post(`/api/users/${id}/password-reset`)).url;
  } catch (problem) {
    notifyProblem(problem);
    return "";
  }
}

/** @param {{onMade: () => Promise<void>}} properties */
function NewAccount({ onMade }) {
  const [made, setMade] = useState(/** @type {{email: string, key: string, url: string} | null} */ (null));
  const add = async (/** @type {FormData} */ fields) => {
    const { id, email, key } = await post("/api/users", { email: valueOf(fields, "email").trim() });
    // Most people begin with a password; the key is for programs.
    const url = await passwordAddress(id);
    setMade({ email, key, url });
    await onMade();
  };
  return html`<${Part} title=${text("people.new")}>
    ${
      made &&
      html`<div class="settings-secret">
        <p role="status">${text("people.made", { email: made.email })}</p>
        ${
          made.url &&
          html`<p>${text("people.made_address")}</p>
            <${Copyable} label=${text("people.address_of", { email: made.email })} value=${made.url} />`
        }
        <p>${text("people.made_key")}</p>
        <${Copyable} label=${text("people.key_of", { email: made.email })} value=${made.key} />
        <div class="row"><${Button} onClick=${() => setMade(null)}>${text("people.done")}<//></div>
      </div>`
    }
    <${Form} onSave=${add} action=${text("people.add")} reset>
      <${Field} name="email" type="email" label=${text("people.email")} required />
    <//>
  <//>`;
}

/** @param {{account: Account, everybody: Account[], reload: () => Promise<void>}} properties */
function Row({ account, everybody, reload }) {
  const show = (/** @type {MouseEvent} */ event) =>
    openMenu(
      /** @type {Element} */ (event.currentTarget),
      items(account, everybody, reload),
      text("people.manage", { email: account.email }),
    );
  const state = account.disabled_at ? "people.disabled" : account.is_admin ? "people.administrator" : "";
  return html`<${Entry}
    title=${account.name ? `${account.name} · ${account.email}` : account.email}
    badge=${state ? text(state) : undefined}
    facts=${[text("people.since", { date: shortDate(account.created_at) })]}
    actions=${html`<${Button} aria-haspopup="menu" onClick=${show}
      >${text("people.manage_short")}<span class="hidden"> ${account.email}</span><//
    >`}
  />`;
}

/**
 * @param {Account} account
 * @param {Account[]} everybody
 * @param {() => Promise<void>} reload
 */
function items(account, everybody, reload) {
  const change = async (/** @type {Record<string, any>} */ fields) => {
    if (await attempt(() => patch(path(account), fields), text("settings.saved"))) await reload();
  };
  const others = everybody.filter((one) => one.id !== account.id);
  const isSelf = account.id === me.value?.id;
  return [
    { title: text("people.reset"), icon: "key", run: () => reset(account) },
    { title: text("people.quota"), icon: "info", run: () => limit(account) },
    {
      title: text("people.be_administrator"),
      checked: account.is_admin,
      isSwitch: true,
      run: () => change({ is_admin: !account.is_admin }),
    },
    {},
    account.disabled_at
      ? { title: text("people.enable"), icon: "check", run: () => change({ is_disabled: false }) }
      : { title: text("people.disable"), icon: "lock", disabled: isSelf, run: () => disable(account, change) },
    {
      title: text("people.remove"),
      icon: "trash",
      danger: true,
      disabled: isSelf,
      run: () => takeAway(account, others, reload),
    },
  ];
}

/** @param {Account} account */
async function reset(account) {
  await attempt(async () => {
    const { url, expires_at: end } = await post(`${path(account)}/password-reset`);
    showDialog(
      (close) =>
        html`<${Dialog} title=${text("people.reset")} onClose=${() => close()}>
          <p>${text("people.reset_hint", { email: account.email, date: moment(end) })}</p>
          <${Copyable} label=${text("people.address_of", { email: account.email })} value=${url} />
        <//>`,
    );
  });
}

/** @param {Account} account */
function limit(account) {
  const save = (/** @type {() => void} */ close) => async (/** @type {FormData} */ fields) => {
    const changed = await patch(path(account), { quota_bytes: quotaBytes(valueOf(fields, "quota")) });
    const values = { used: size(changed.used_bytes), quota: size(changed.quota_bytes) };
    notify(changed.quota_bytes ? text("people.quota_set", values) : text("people.quota_none", values));
    close();
  };
  return showDialog(
    (close) =>
      html`<${FormDialog}
        title=${text("people.quota_title", { email: account.email })}
        action=${text("settings.save")}
        onSave=${save(close)}
        onClose=${close}
      >
        <${Field}
          name="quota"
          type="number"
          min="0"
          step="any"
          label=${text("people.quota_gigabytes")}
          hint=${text("people.quota_hint")}
          autofocus
        />
      <//>`,
  );
}

/** @param {Account} account @param {(fields: Record<string, any>) => Promise<void>} change */
async function disable(account, change) {
  await askAndDo({
    title: text("people.disable_title", { email: account.email }),
    body: text("people.disable_hint"),
    action: text("people.disable"),
    act: () => change({ is_disabled: true }),
  });
}

/**
 * @param {Account} account
 * @param {Account[]} others
 * @param {() => Promise<void>} reload
 */
async function takeAway(account, others, reload) {
  const act = (/** @type {Record<string, any>} */ query) => remove(path(account), query);
  const done = await showDialog(
    (close) => html`<${Removal} account=${account} others=${others} act=${act} close=${close} />`,
  );
  if (!done) return;
  notify(text("people.removed", { email: account.email }));
  await reload();
}
