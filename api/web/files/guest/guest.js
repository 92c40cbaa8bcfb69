/** The page of who came by a link: what it leads to, without an account. */

import { get, post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { NoticeHost } from "../../shared/components/notices.js";
import { describe } from "../../shared/components/problems.js";
import { Empty, Failure, Loading } from "../../shared/components/states.js";
import { html, useEffect, useId, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { language } from "../../shared/texts/language.js";
import { changeLanguage, loadTexts, text } from "../../shared/texts/texts.js";
import { theme } from "../../shared/theme.js";
import { GuestItem } from "./guest_item.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/guest.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"LinkItemResult">} Item */

/** @param {{token: string}} properties */
export function Guest({ token }) {
  const base = `/api/links/${token}`;
  const [top, setTop] = useState(/** @type {Item | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const load = () => {
    setError(null);
    get(base, {}, { anonymous: true }).then(setTop, setError);
  };
  useEffect(load, [base]);
  const draw = () => {
    if (error?.code === "password_required") return html`<${Password} base=${base} onRight=${load} />`;
    if (error?.status === 404)
      return html`<${Empty} icon="link" title=${text("guest.over")} hint=${text("guest.over_hint")} />`;
    if (error) return html`<${Failure} error=${error} onRetry=${load} />`;
    return top ? html`<${GuestItem} base=${base} top=${top} />` : html`<${Loading} />`;
  };
  const isEnglish = language.value === "en";
  const isDark = document.documentElement.dataset.theme === "dark";
  return html`<main class="guest">
    <header class="row">
      <h1>${text("guest.title")}</h1>
      <${Button} lang=${isEnglish ? "zh-CN" : "en"} onClick=${() => changeLanguage(isEnglish ? "zh" : "en")}
        >${isEnglish ? "中文" : "English"}<//
      >
      <${Button} icon="sun" onClick=${() => (theme.value = isDark ? "light" : "dark")}
        >${text(theme.value === "dark" ? "guest.light" : "guest.dark")}<//
      >
    </header>
    ${draw()} <${NoticeHost} />
  </main>`;
}

/** @param {{base: string, onRight: () => void}} properties */
function Password({ base, onRight }) {
  const id = useId();
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {any} */ event) => {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get("password");
    try {
      await post(`${base}/pass`, { password }, { anonymous: true });
      onRight();
    } catch (wrong) {
      const { title, hint } = describe(wrong);
      setProblem([title, hint].filter(Boolean).join(" "));
    }
  };
  return html`<form class="guest-password" onSubmit=${submit}>
    <label class="field"
      ><span>${text("guest.password")}</span
      ><input name="password" type="password" autocomplete="off" autofocus required aria-describedby=${`problem${id}`}
    /></label>
    <p class="field-problem" id=${`problem${id}`} role="alert">${problem}</p>
    <${Button} kind="main" type="submit">${text("guest.open")}<//>
  </form>`;
}
