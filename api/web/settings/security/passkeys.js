/** The person's passkeys. */

import { get, post, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { shortDate } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { Field, Form, valueOf } from "../form/form.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Entry, Nothing, Part, askAndDo } from "../form/section.js";

/** @typedef {import("../../shared/api/types.js").Schema<"PasskeyResult">} Passkey */

/** The list, and another one. */
export function Passkeys() {
  const passkeys = useLoaded(async () => /** @type {Passkey[]} */ ((await get("/api/auth/passkeys")).items));
  const add = async (/** @type {FormData} */ fields) => {
    await register(valueOf(fields, "name"));
    await passkeys.reload();
  };
  const takeAway = async (/** @type {Passkey} */ passkey) => {
    const done = await askAndDo({
      title: text("security.passkey_remove_title", { name: passkey.name }),
      body: text("security.passkey_remove_hint"),
      action: text("security.passkey_remove"),
      act: () => remove(`/api/auth/passkeys/${passkey.id}`),
      done: text("security.passkey_removed"),
    });
    if (done) await passkeys.reload();
  };
  return html`<${Part} title=${text("security.passkeys")} hint=${text("security.passkeys_hint")}>
    <${Loaded} of=${passkeys}>
      ${(/** @type {Passkey[]} */ items) => html`
        ${!items.length && html`<${Nothing}>${text("security.no_passkeys")}<//>`}
        <ul class="settings-list">
          ${items.map(
            (one) =>
              html`<${Entry}
                key=${one.id}
                title=${one.name}
                facts=${[
                  one.last_used_at
                    ? text("security.last_used", { date: shortDate(one.last_used_at) })
                    : text("security.never_used"),
                ]}
                actions=${html`<${Button}
                  aria-label=${text("security.passkey_remove_title", { name: one.name })}
                  onClick=${() => takeAway(one)}
                  >${text("security.passkey_remove")}<//
                >`}
              />`,
          )}
        </ul>
      `}
    <//>
    ${
      isPossible()
        ? html`<${Form}
            onSave=${add}
            action=${text("security.passkey_add")}
            saved=${text("security.passkey_added")}
            reset
          >
            <${Field} name="name" label=${text("security.passkey_name")} maxlength="100" required />
          <//>`
        : html`<p class="settings-small">${text("security.passkey_impossible")}</p>`
    }
  <//>`;
}

const isPossible = () => typeof PublicKeyCredential !== "undefined" && Boolean(navigator.credentials);

/** @param {string} name */
async function register(name) {
  const { options } = await post("/api/auth/passkeys/options");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey }));
  await post("/api/auth/passkeys", { name, credential: plain(made.toJSON()) });
}

/** What the service takes of the browser's answer. @param {any} made */
function plain({ id, rawId, type, response: { clientDataJSON, attestationObject } }) {
  return { id, rawId, type, response: { clientDataJSON, attestationObject } };
}
