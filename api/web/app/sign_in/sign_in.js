/** Signing in. */

import { post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Failure } from "../../shared/components/states.js";
import { html, useState } from "../../shared/preact.js";
import { loadMe } from "../../shared/session.js";
import { loadTexts, text } from "../../shared/texts/texts.js";

await loadTexts(import.meta.url);

/** @param {{onSignedIn: (done: boolean) => void}} properties */
export function SignIn({ onSignedIn }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    try {
      await post("/api/auth/login", { token: fields.get("token") }, { anonymous: true });
      await loadMe();
      onSignedIn(true);
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<main class="sign-in">
    <h1>${text("sign_in.title")}</h1>
    <form onSubmit=${submit}>
      <label class="field"
        ><span>${text("sign_in.token")}</span><input name="token" type="password" autocomplete="off" required
      /></label>
      ${error !== null && html`<${Failure} error=${error} />`}
      <${Button} kind="main" type="submit">${text("sign_in.action")}<//>
    </form>
  </main>`;
}
