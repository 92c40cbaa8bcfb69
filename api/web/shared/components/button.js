/** Buttons. */

import { html } from "../preact.js";
import { Icon } from "./icon.js";

/**
 * A button with words. `kind`: "" (quiet), "main" (the one thing to do), "danger".
 * @param {{kind?: string, icon?: string, children?: any, class?: string} & Record<string, any>} properties
 */
export function Button({ kind = "", icon, children, class: extra = "", ...rest }) {
  return html`<button type="button" class=${`button ${kind} ${extra}`} ...${rest}>
    ${icon && html`<${Icon} name=${icon} />`}<span>${children}</span>
  </button>`;
}

/**
 * A button that is only an icon; its name is read out and shown as a hint.
 * @param {{icon: string, label: string, class?: string} & Record<string, any>} properties
 */
export function IconButton({ icon, label, class: extra = "", ...rest }) {
  return html`<button type="button" class=${`icon-button ${extra}`} aria-label=${label} title=${label} ...${rest}>
    <${Icon} name=${icon} />
  </button>`;
}
