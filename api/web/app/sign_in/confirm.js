/** Confirming who one is, over the page, before something that lasts is made: the request is then repeated. */

import { get, post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { describe } from "../../shared/components/problems.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { isPossible, proveByPasskey } from "./passkey.js";

await loadTexts(import.meta.url);

/** @typedef {import("../../shared/api/types.js").Schema<"ProofResult">} Offered */

/** Ask; answers whether the person proved who they are. @returns {Promise<boolean>} */
export async function confirmIdentity() {
  const offered = await get("/api/auth/proof");
  const done = await showDialog(
    (close) =>
      html`<${Dialog} title=${text("confirm.title")} class="sign-in-again" onClose=${() => close(false)}
        ><${Ways} offered=${offered} onProved=${() => close(true)}
      /><//>`,
  );
  return Boolean(done);
}

/** @param {{offered: Offered, onProved: () => void}} properties */
function Ways({ offered, onProved }) {
  const [told, setTold] = useState("");
  const [isBusy, setBusy] = useState(false);
  const attempt = async (/** @type {() => Promise<unknown>} */ act) => {
    setBusy(true);
    setTold("");
    try {
      await act();
      onProved();
    } catch (problem) {
      setTold(wordsOf(problem));
    } finally {
      setBusy(false);
    }
  };
  return html`<div class="sign-in-ways">
    <p class="quiet">${text("confirm.why")}</p>
    ${offered.password && html`<${Secret} name="password" attempt=${attempt} isBusy=${isBusy} />`}
    ${!offered.password && offered.token && html`<${Secret} name="token" attempt=${attempt} isBusy=${isBusy} />`}
    <p class="field-problem" role="alert">${told}</p>
    <div class="sign-in-others">
      ${
        offered.passkey &&
        isPossible() &&
        html`<${Button} icon="key" disabled=${isBusy} onClick=${() => attempt(proveByPasskey)}
          >${text("confirm.passkey")}<//
        >`
      }
      ${offered.oidc && html`<${Issuer} issuer=${offered.oidc} onProved=${onProved} />`}
    </div>
    ${!isAny(offered) && html`<p>${text("confirm.nothing")}</p>`}
  </div>`;
}

/** @param {Offered} offered */
const isAny = (offered) => offered.password || offered.token || offered.oidc || (offered.passkey && isPossible());

/** @param {{name: "password" | "token", attempt: (act: () => Promise<unknown>) => void, isBusy: boolean}} properties */
function Secret({ name, attempt, isBusy }) {
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.currentTarget));
    attempt(() => post("/api/auth/proof", fields, { anonymous: true }));
  };
  const autocomplete = name === "password" ? "current-password" : "off";
  return html`<form onSubmit=${submit}>
    <label class="field"
      ><span>${text(`sign_in.${name}`)}</span
      ><input name=${name} type="password" autocomplete=${autocomplete} autofocus required
    /></label>
    <${Button} kind="main" type="submit" disabled=${isBusy}>${text("confirm.action")}<//>
  </form>`;
}

/** The issuer asks in another tab, so that nothing here is lost; this one sees when it is done. @param {{issuer: {name: string, url: string}, onProved: () => void}} properties */
function Issuer({ issuer, onProved }) {
  useEffect(() => {
    const look = async () => {
      const found = await get("/api/auth/proof").catch(() => null);
      if (found?.is_fresh) onProved();
    };
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, []);
  return html`<a class="button" href=${issuer.url} target="_blank" rel="noreferrer"
    >${text("confirm.issuer", { name: issuer.name })}</a
  >`;
}

/** @param {unknown} problem */
function wordsOf(problem) {
  if (problem instanceof DOMException) return text("sign_in.passkey_stopped");
  const { title, hint } = describe(problem);
  return [title, hint].filter(Boolean).join(" ");
}
