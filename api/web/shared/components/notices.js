/** Short notices at the edge of the page, each with one thing to do at most; read out politely. */

import { html, signal } from "../preact.js";
import { text } from "../texts/texts.js";
import { Problem } from "../api/problem.js";
import { Button, IconButton } from "./button.js";
import { describe } from "./problems.js";

/** @typedef {{key: number, words: string, kind: "" | "error", action?: {title: string, run: () => void}}} Notice */

/** @type {import("../../vendor/signals.js").Signal<Notice[]>} */
const shown = signal([]);
/** What a screen reader says when nothing is shown. @type {import("../../vendor/signals.js").Signal<string>} */
const said = signal("");
const LASTS = 8000;
const MOST = 3;
let next = 1;

/**
 * Tell something that is over. An error stays until it is closed.
 * @param {string} words
 * @param {{action?: {title: string, run: () => void}, kind?: "" | "error"}} [options]
 */
export function notify(words, { action, kind = "" } = {}) {
  const key = next++;
  shown.value = [...shown.peek().slice(1 - MOST), { key, words, kind, action }];
  if (kind !== "error") setTimeout(() => dismiss(key), LASTS);
}

/** Tell what went wrong; an abort by the person is nothing. @param {unknown} error */
export function notifyProblem(error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const told = describe(error);
  const words = [told.title, told.hint].filter(Boolean).join(" ");
  notify(error instanceof Problem && error.requestId ? `${words} (${error.requestId})` : words, { kind: "error" });
}

/** Say something to who listens, without showing it. @param {string} words */
export function announce(words) {
  said.value = said.peek() === words ? `${words}\u00a0` : words;
}

/** @param {number} key */
function dismiss(key) {
  shown.value = shown.peek().filter((one) => one.key !== key);
}

/** Where notices are drawn. */
export function NoticeHost() {
  return html`<div class="notices" role="region" aria-label=${text("shared.notices")}>
    <div role="status" class="hidden">${said.value}</div>
    <div role="status">${shown.value.map((one) => html`<${Shown} key=${one.key} notice=${one} />`)}</div>
  </div>`;
}

/** @param {{notice: Notice}} properties */
function Shown({ notice }) {
  const { action, key } = notice;
  const act = () => {
    dismiss(key);
    action?.run();
  };
  return html`<div class=${`notice ${notice.kind}`}>
    <span>${notice.words}</span>
    ${action && html`<${Button} onClick=${act}>${action.title}<//>`}
    <${IconButton} icon="close" label=${text("shared.close")} onClick=${() => dismiss(key)} />
  </div>`;
}
