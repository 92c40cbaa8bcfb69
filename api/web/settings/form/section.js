/** The pieces that sections are made of. */

import { Button } from "../../shared/components/button.js";
import { useCopy } from "../../shared/components/copy_button.js";
import { confirm } from "../../shared/components/dialogs.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { html, useId } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

/** @param {{title: string, hint?: any, children?: any}} properties */
export function Section({ title, hint, children }) {
  return html`<section class="settings-section">
    <h2>${title}</h2>
    ${hint && html`<p class="quiet">${hint}</p>`}${children}
  </section>`;
}

/** A part of a section. @param {{title: string, hint?: any, children?: any}} properties */
export function Part({ title, hint, children }) {
  const id = useId();
  return html`<section class="settings-part" aria-labelledby=${`part${id}`}>
    <h3 id=${`part${id}`}>${title}</h3>
    ${hint && html`<p class="quiet">${hint}</p>`}${children}
  </section>`;
}

/** A sentence where a list is empty. @param {{children?: any}} properties */
export function Nothing({ children }) {
  return html`<p class="settings-nothing">${children}</p>`;
}

/**
 * One row of a list: a name, facts below it, and what can be done.
 * @param {{title: any, facts?: any[], actions?: any, badge?: string, children?: any}} properties
 */
export function Entry({ title, facts = [], actions, badge, children }) {
  return html`<li class="settings-entry">
    <div class="settings-entry-words">
      <p class="settings-entry-title">
        <bdi>${title}</bdi>${badge && html` <span class="settings-badge">${badge}</span>`}
      </p>
      ${facts.filter(Boolean).map((fact) => html`<p class="settings-small">${fact}</p>`)}${children}
    </div>
    ${actions && html`<div class="row settings-entry-actions">${actions}</div>`}
  </li>`;
}

/** A text to copy: a key, an address, a piece of configuration. @param {{label: string, value: string}} properties */
export function Copyable({ label, value }) {
  const [isCopied, copy] = useCopy(value);
  return html`<div class="settings-copyable">
    <pre tabindex="0" role="region" aria-label=${label}><code>${value}</code></pre>
    <${Button} icon=${isCopied ? "check" : "copy"} onClick=${copy}
      >${text(isCopied ? "shared.copied" : "settings.copy")}<//
    >
  </div>`;
}

/**
 * Ask, do what can't be taken back, and say so; true if it was done.
 * @param {{title: string, body?: string, action: string, act: () => Promise<any>, done?: string}} question
 */
export async function askAndDo({ title, body, action, act, done }) {
  if (!(await confirm({ title, body, action, danger: true }))) return false;
  return attempt(act, done);
}

/**
 * Do something, and say that it is done, or what went wrong; true if it was done.
 * @param {() => Promise<any>} act
 * @param {string} [done]
 */
export async function attempt(act, done) {
  try {
    await act();
  } catch (error) {
    notifyProblem(error);
    return false;
  }
  if (done) notify(done);
  return true;
}
