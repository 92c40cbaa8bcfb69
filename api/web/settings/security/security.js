/** How the person signs in: password, passkeys, and the browsers that are signed in. */

import { put } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { me, signOut } from "../../shared/session.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Field, Form, valueOf } from "../form/form.js";
import { Part, Section, askAndDo, attempt } from "../form/section.js";
import { Passkeys } from "./passkeys.js";
import { Sessions } from "./sessions.js";

await loadTexts(import.meta.url);

/** The section. */
export function Security() {
  return html`<${Section} title=${text("settings.section.security")}>
    <${Password} /><${Passkeys} /><${Sessions} />
    <${Part} title=${text("security.sign_out")}>
      <div class="row">
        <${Button} icon="lock" onClick=${() => attempt(signOut)}>${text("security.sign_out")}<//>
        <${Button} kind="danger" onClick=${signOutEverywhere}>${text("security.sign_out_everywhere")}<//>
      </div>
    <//>
  <//>`;
}

function Password() {
  return html`<${Part} title=${text("security.password")} hint=${text("security.password_hint")}>
    <${Form}
      onSave=${changePassword}
      action=${text("security.password_save")}
      saved=${text("security.password_saved")}
      reset
    >
      <input hidden name="email" autocomplete="username" readonly value=${me.value?.email} />
      <${Field}
        name="old"
        type="password"
        label=${text("security.password_old")}
        hint=${text("security.password_old_hint")}
        autocomplete="current-password"
      />
      <${Field}
        name="new"
        type="password"
        label=${text("security.password_new")}
        autocomplete="new-password"
        minlength="12"
        maxlength="256"
        required
      />
    <//>
  <//>`;
}

/** @param {FormData} fields */
async function changePassword(fields) {
  // A wrong old password is a 401, which does not mean that the session is over.
  await put(
    "/api/auth/password",
    { new: valueOf(fields, "new"), old: valueOf(fields, "old") || null },
    { anonymous: true },
  );
}

async function signOutEverywhere() {
  await askAndDo({
    title: text("security.sign_out_everywhere"),
    body: text("security.sign_out_everywhere_hint"),
    action: text("security.sign_out_everywhere"),
    act: () => signOut({ everywhere: true }),
  });
}
