/** A small form: what was typed stays at an error, which is shown beside the field that it is about. */

import { Button } from "../../shared/components/button.js";
import { announce } from "../../shared/components/notices.js";
import { describe } from "../../shared/components/problems.js";
import { createContext, html, useContext, useId, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { complaints } from "./complaints.js";

/** @type {import("../../vendor/preact.js").Context<Record<string, string>>} */
const Complaints = /** @type {any} */ (createContext({}));

/**
 * Fields with a button. `onSave` gets the values and may throw a `Problem`; then `saved` is said, and `reset` empties all.
 * @param {{onSave: (fields: FormData) => Promise<any>, action: string, saved?: string, reset?: boolean,
 *   danger?: boolean, children?: any, more?: any, label?: string}} properties `more` stands beside the button
 */
export function Form({ onSave, action, saved, reset = false, danger = false, children, more, label }) {
  const [state, setState] = useState(/** @type {{error?: unknown, done?: boolean, busy?: boolean}} */ ({}));
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const element = form.current;
    if (!element || state.busy) return;
    setState({ busy: true });
    try {
      await onSave(new FormData(element));
    } catch (error) {
      setState({ error });
      return;
    }
    if (reset) element.reset();
    setState({ done: true });
    if (saved) announce(saved);
  };
  const { error, done, busy } = state;
  const found = complaints(error, form.current ? [...new FormData(form.current).keys()] : []);
  return html`<form
    ref=${form}
    class="settings-form"
    aria-label=${label}
    onSubmit=${submit}
    onInput=${() => done && setState({})}
  >
    <${Complaints.Provider} value=${found.fields}>${children}<//>
    ${error !== undefined && !found.isComplete && html`<${Wrong} error=${error} />`}
    <div class="row">
      <${Button} kind=${danger ? "danger" : "main"} type="submit" aria-disabled=${busy ? "true" : undefined}
        >${action}<//
      >
      ${more} ${done && saved && html`<span class="settings-saved">${saved}</span>`}
    </div>
  </form>`;
}

/** What went wrong, inside a form. @param {{error: unknown}} properties */
export function Wrong({ error }) {
  const { title, hint, requestId } = describe(error);
  return html`<div class="settings-wrong" role="alert">
    <p>${title}</p>
    ${hint && html`<p>${hint}</p>`}
    ${requestId && html`<p class="settings-small">${text("settings.request", { id: requestId })}</p>`}
  </div>`;
}

/**
 * A field with its label. Without `children` an input (or, with `lines`, a larger one), else a choice of these.
 * @param {{name: string, label: string, hint?: any, value?: string, lines?: number, children?: any} & Record<string, any>} properties
 */
export function Field({ name, label, hint, value = "", lines, children, ...rest }) {
  const id = useId();
  const complaint = useContext(Complaints)[name];
  const about = {
    id: `field${id}`,
    name,
    "aria-invalid": complaint ? "true" : undefined,
    "aria-describedby": [hint && `hint${id}`, complaint && `wrong${id}`].filter(Boolean).join(" ") || undefined,
    ...rest,
  };
  return html`<div class="field">
    <label for=${`field${id}`}>${label}</label>
    ${
      children
        ? html`<select ...${about}>
            ${children}
          </select>`
        : lines
          ? html`<textarea rows=${lines} defaultValue=${value} ...${about}></textarea>`
          : html`<input autocomplete="off" defaultValue=${value} ...${about} />`
    }
    ${hint && html`<p class="settings-small" id=${`hint${id}`}>${hint}</p>`}
    ${complaint && html`<p class="settings-complaint" role="alert" id=${`wrong${id}`}>${complaint}</p>`}
  </div>`;
}

/**
 * A box to tick.
 * @param {{name: string, label: any, hint?: string, checked?: boolean} & Record<string, any>} properties
 */
export function Tick({ name, label, hint, checked = false, ...rest }) {
  return html`<label class="settings-tick"
    ><input type="checkbox" name=${name} defaultChecked=${checked} ...${rest} /><span
      >${label}${hint && html`<span class="settings-small">${hint}</span>`}</span
    ></label
  >`;
}

/** @param {FormData} fields @param {string} name */
export const valueOf = (fields, name) => String(fields.get(name) ?? "");
