/** Dialogs over the page: opened from anywhere, drawn in one place (`DialogHost`, in the shell). */

import { html, signal, useEffect, useId, useLayoutEffect, useRef } from "../preact.js";
import { text } from "../texts/texts.js";
import { Button, IconButton } from "./button.js";

/** @typedef {{key: number, draw: (close: (result?: any) => void) => any, close: (result?: any) => void}} OpenDialog */

/** @type {import("../../vendor/signals.js").Signal<OpenDialog[]>} */
const open = signal([]);
let next = 1;

/**
 * Show a dialog, and return what it was closed with (undefined: by Escape, or the button that closes it).
 * @param {(close: (result?: any) => void) => any} draw returns a `Dialog`
 * @returns {Promise<any>}
 */
export function showDialog(draw) {
  return new Promise((resolve) => {
    const key = next++;
    const close = (/** @type {any} */ result) => {
      open.value = open.peek().filter((one) => one.key !== key);
      resolve(result);
    };
    open.value = [...open.peek(), { key, draw, close }];
  });
}

/** Where dialogs are drawn. */
export function DialogHost() {
  return open.value.map((one) => html`<${Drawn} key=${one.key} dialog=${one} />`);
}

/** @param {{dialog: OpenDialog}} properties */
function Drawn({ dialog }) {
  return dialog.draw(dialog.close);
}

/**
 * A dialog: a title, what is in it, and buttons below. The focus goes to what has `autofocus`, and back when it closes.
 * @param {{title: string, onClose: () => void, footer?: any, children?: any, class?: string, role?: string}} properties
 */
export function Dialog({ title, onClose, footer, children, class: extra = "", role }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    /** @type {HTMLElement | null | undefined} */ (dialog?.querySelector("[autofocus]"))?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog
    ref=${element}
    class=${`dialog ${extra}`}
    role=${role}
    aria-labelledby=${`dialog${id}`}
    onCancel=${cancel}
  >
    <header>
      <h2 id=${`dialog${id}`}>${title}</h2>
      <${IconButton} icon="close" label=${text("shared.close")} onClick=${onClose} />
    </header>
    <div class="dialog-body">${children}</div>
    ${footer && html`<footer>${footer}</footer>`}
  </dialog>`;
}

/**
 * Ask a question with two answers; true if the person agrees.
 * @param {{title: string, body?: any, action: string, danger?: boolean}} question the focus is on "cancel" for what is dangerous
 * @returns {Promise<boolean>}
 */
export async function confirm({ title, body, action, danger = false }) {
  const answer = await showDialog(
    (close) =>
      html`<${Dialog}
        title=${title}
        role="alertdialog"
        onClose=${() => close(false)}
        footer=${html`<${Button} autofocus=${danger} onClick=${() => close(false)}>${text("shared.cancel")}<//>
          <${Button} kind=${danger ? "danger" : "main"} autofocus=${!danger} onClick=${() => close(true)}
            >${action}<//
          >`}
      >
        ${body && html`<p>${body}</p>`}
      <//>`,
  );
  return Boolean(answer);
}

/**
 * Ask for one line of text; undefined if the person cancels.
 * @param {{title: string, label: string, value?: string, action: string, selectTo?: number, check?: (value: string) => string}} question
 *   `selectTo`: how much of the value is selected; `check` returns what is wrong with a value, or ""
 * @returns {Promise<string | undefined>}
 */
export function ask(question) {
  return showDialog((close) => html`<${Question} ...${question} close=${close} />`);
}

/** @param {any} properties */
function Question({ title, label, value = "", action, selectTo, check, close }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const problem = useRef(signal(""));
  const id = useId();
  useEffect(() => field.current?.setSelectionRange(0, selectTo ?? value.length), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const typed = field.current?.value.trim() ?? "";
    problem.current.value = typed ? (check?.(typed) ?? "") : text("shared.required");
    if (!problem.current.value) close(typed);
  };
  return html`<${Dialog}
    title=${title}
    onClose=${() => close()}
    footer=${html`<${Button} onClick=${() => close()}>${text("shared.cancel")}<//>
      <${Button} kind="main" type="submit" form=${`form${id}`}>${action}<//>`}
  >
    <form id=${`form${id}`} onSubmit=${submit}>
      <label class="field"
        ><span>${label}</span>
        <input ref=${field} autofocus defaultValue=${value} autocomplete="off" aria-describedby=${`problem${id}`} />
      </label>
      <p class="field-problem" id=${`problem${id}`} role="alert">${problem.current.value}</p>
    </form>
  <//>`;
}
