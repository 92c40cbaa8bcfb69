/** The page of who came by a link. */

import { html } from "../../shared/preact.js";

/** @param {{token: string}} properties */
export function Guest({ token }) {
  return html`<main data-token=${token}></main>`;
}
