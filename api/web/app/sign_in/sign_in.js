/** The page of who is not signed in. */

import { Button } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { language } from "../../shared/texts/language.js";
import { changeLanguage, loadTexts, text } from "../../shared/texts/texts.js";
import { Ways } from "./ways.js";

await loadTexts(import.meta.url);

/** @param {{onSignedIn: (done: boolean) => void}} properties */
export function SignIn({ onSignedIn }) {
  const isEnglish = language.value === "en";
  return html`<main class="sign-in">
    <h1>${text("sign_in.title")}</h1>
    <${Ways} onSignedIn=${onSignedIn} />
    <div>
      <${Button} lang=${isEnglish ? "zh-CN" : "en"} onClick=${() => changeLanguage(isEnglish ? "zh" : "en")}
        >${isEnglish ? "中文" : "English"}<//
      >
    </div>
  </main>`;
}
