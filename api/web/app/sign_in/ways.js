/** The ways of signing in that this service offers, on a card. */

import { get, post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { describe } from "../../shared/components/problems.js";
import { html, useEffect, useId, useState } from "../../shared/preact.js";
import { loadMe } from "../../shared/session.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { isPossible, signInByPasskey } from "./passkey.js";

await loadTexts(import.meta.url);

/** @typedef {import("../../shared/api/types.js").Schema<"WaysResult">} Offered */
/** @typedef {"password" | "token"} Way */

/** @param {{onSignedIn: (done: boolean) => void}} properties */
export function Ways({ onSignedIn }) {
  const id = useId();
  const [offered, setOffered] = useState(/** @type {Partial<Offered> | null} */ (null));
  const [way, setWay] = useState(/** @type {Way} */ ("token"));
  const [told, setTold] = useState({ words: "", isProblem: false });
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const use = (/** @type {Partial<Offered>} */ found) => {
      setOffered(found);
      setWay(found.password ? "password" : "token");
    };
    get("/api/auth/ways", {}, { anonymous: true }).then(use, () => use({}));
  }, []);
  const attempt = async (/** @type {() => Promise<unknown>} */ act) => {
    setBusy(true);
    setTold({ words: "", isProblem: false });
    try {
      await act();
      await loadMe({ anonymous: true });
      onSignedIn(true);
    } catch (problem) {
      setTold({ words: wordsOf(problem), isProblem: true });
    } finally {
      setBusy(false);
    }
  };
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.currentTarget));
    void attempt(() => post("/api/auth/login", fields, { anonymous: true }));
  };
  const forgot = async (/** @type {any} */ event) => {
    const email = new FormData(event.currentTarget.form).get("email");
    if (!email) return setTold({ words: text("sign_in.email_first"), isProblem: true });
    try {
      await post("/api/auth/password/forgot", { email }, { anonymous: true });
      setTold({ words: text("sign_in.mail_sent"), isProblem: false });
    } catch (problem) {
      setTold({ words: wordsOf(problem), isProblem: true });
    }
  };
  if (!offered) return null;
  return html`<div class="sign-in-ways">
    <form key=${way} onSubmit=${submit} aria-describedby=${`told${id}`}>
      ${way === "password" ? html`<${PasswordFields} />` : html`<${TokenField} />`}
      <p
        class=${told.isProblem ? "field-problem" : "quiet"}
        id=${`told${id}`}
        role=${told.isProblem ? "alert" : "status"}
      >
        ${told.words}
      </p>
      <${Button} kind="main" type="submit" disabled=${isBusy}>${text("sign_in.action")}<//>
      ${way === "password" && offered.reset_by_mail && html`<${Button} onClick=${forgot}>${text("sign_in.forgot")}<//>`}
    </form>
    <${Others} offered=${offered} way=${way} setWay=${setWay} attempt=${attempt} isBusy=${isBusy} />
  </div>`;
}

/** The ways besides the one that is shown. @param {{offered: Partial<Offered>, way: Way, setWay: (way: Way) => void, attempt: (act: () => Promise<unknown>) => void, isBusy: boolean}} properties */
function Others({ offered, way, setWay, attempt, isBusy }) {
  const other = way === "password" ? "token" : "password";
  return html`<div class="sign-in-others">
    ${
      offered.passkey &&
      isPossible() &&
      html`<${Button} icon="key" disabled=${isBusy} onClick=${() => attempt(signInByPasskey)}
        >${text("sign_in.passkey")}<//
      >`
    }
    ${offered.oidc && html`<a class="button" href=${offered.oidc.url}>${text("sign_in.issuer", { name: offered.oidc.name })}</a>`}
    ${
      (offered.password || way === "password") &&
      html`<${Button} onClick=${() => setWay(other)}
        >${text(other === "token" ? "sign_in.with_token" : "sign_in.with_password")}<//
      >`
    }
  </div>`;
}

function PasswordFields() {
  return html`<label class="field"
      ><span>${text("sign_in.email")}</span><input name="email" type="email" autocomplete="username" autofocus required
    /></label>
    <label class="field"
      ><span>${text("sign_in.password")}</span
      ><input name="password" type="password" autocomplete="current-password" required
    /></label>`;
}

function TokenField() {
  return html`<label class="field"
    ><span>${text("sign_in.token")}</span><input name="token" type="password" autocomplete="off" autofocus required
  /></label>`;
}

/** @param {unknown} problem */
function wordsOf(problem) {
  if (problem instanceof DOMException) return text("sign_in.passkey_stopped");
  const { title, hint } = describe(problem);
  return [title, hint].filter(Boolean).join(" ");
}
