/** A link in a text that nobody vouches for: into the drive, or out of it after its address was shown. */

import { confirm } from "../components/dialogs.js";
import { goToFile, href as hrefOf } from "../location.js";
import { html } from "../preact.js";
import { text } from "../texts/texts.js";
import { destination } from "./inline.js";

/** @param {{address: string, isImage?: boolean, children?: any}} properties an image is never loaded: it is a link */
export function MarkdownLink({ address, isImage = false, children }) {
  const target = destination(address, location.href);
  const words = isImage ? [text("shared.markdown.image_of", { name: "" }), children] : children;
  if (target.kind === "none") return html`<span>${words}</span>`;
  if (target.kind === "file") {
    const open = (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      goToFile(target.id, target.passage);
    };
    return html`<a href=${hrefOf(["file", target.id], target.passage)} onClick=${open}>${words}</a>`;
  }
  if (target.kind !== "foreign") return html`<a href=${target.href}>${words}</a>`;
  return html`<a
    class="foreign"
    href=${target.href}
    title=${target.href}
    target="_blank"
    rel="noopener noreferrer nofollow"
    onClick=${leave}
    >${words}</a
  >`;
}

/** Show where a link leads before anything is sent there. @param {MouseEvent} event */
async function leave(event) {
  event.preventDefault();
  const { href } = /** @type {HTMLAnchorElement} */ (event.currentTarget);
  const agreed = await confirm({ title: text("shared.link.leave"), body: href, action: text("shared.link.open") });
  if (agreed) window.open(href, "_blank", "noopener,noreferrer");
}
