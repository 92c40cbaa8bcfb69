/** What stands where content is not there: yet, at all, or because something went wrong. */

import { online } from "../api/request.js";
import { copyText } from "../clipboard.js";
import { html, useEffect } from "../preact.js";
import { text } from "../texts/texts.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";
import { describe } from "./problems.js";

/** @param {{label?: string}} properties */
export function Loading({ label }) {
  return html`<div class="state loading" role="status">
    <span class="spinner" aria-hidden="true"></span>${label ?? text("shared.loading")}
  </div>`;
}

/** @param {{icon?: string, title: string, hint?: string, children?: any}} properties */
export function Empty({ icon = "folder", title, hint, children }) {
  return html`<div class="state empty">
    <${Icon} name=${icon} />
    <p class="state-title">${title}</p>
    ${hint && html`<p>${hint}</p>`}${children}
  </div>`;
}

/**
 * What happened, what to do, another try, and the request's id for who asks for help. What failed for want of the
 * service is tried again by itself as soon as it is there.
 * @param {{error: unknown, onRetry?: () => void, action?: string}} properties
 */
export function Failure({ error, onRetry, action = text("shared.retry") }) {
  const { title, hint, requestId } = describe(error);
  useEffect(() => {
    if (onRetry && /** @type {any} */ (error)?.status === 0 && online.value) onRetry();
  }, [online.value]);
  const copy = () => copyText(requestId);
  return html`<div class="state failure" role="alert">
    <${Icon} name="warning" />
    <p class="state-title">${title}</p>
    ${hint && html`<p>${hint}</p>`}
    <div class="row">
      ${onRetry && html`<${Button} icon="restore" onClick=${onRetry}>${action}<//>`}
      ${requestId && html`<${Button} icon="copy" onClick=${copy}>${text("shared.request_id", { id: requestId })}<//>`}
    </div>
  </div>`;
}
