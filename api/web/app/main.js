/** The entry: finds out who is here, and draws the page. */

import "../shared/texts.js";
import { whenConfirming, whenSignedOut } from "../shared/api/request.js";
import { html, render } from "../shared/preact.js";
import { guestToken, loadMe, me } from "../shared/session.js";
import { loadTexts } from "../shared/texts/texts.js";
import { followPrinting } from "./printing.js";
import { Shell } from "./shell.js";
import { followTheme } from "./theme.js";
import { followTitle } from "./title.js";

followTheme();
followPrinting();
await loadTexts(import.meta.url);
followTitle();

/** @type {Promise<boolean> | null} */
let asking = null;

/** Ask once, for all requests that need it. */
function signInAgain() {
  asking ??= import("./sign_in/again.js").then((module) => module.signInAgain()).finally(() => (asking = null));
  return asking;
}

/** @type {Promise<boolean> | null} */
let confirming = null;

/** Ask once, for all requests that need it. */
function confirmIdentity() {
  confirming ??= import("./sign_in/confirm.js")
    .then((module) => module.confirmIdentity())
    .finally(() => (confirming = null));
  return confirming;
}

async function start() {
  const page = /** @type {HTMLElement} */ (document.getElementById("page"));
  if (guestToken) {
    const { Guest } = await import("../files/guest/guest.js");
    render(html`<${Guest} token=${guestToken} />`, page);
    return;
  }
  await loadMe({ anonymous: true }).catch((problem) => {
    if (problem.status !== 401) throw problem;
  });
  if (!me.value) {
    const { SignIn } = await import("./sign_in/sign_in.js");
    await new Promise((resolve) => render(html`<${SignIn} onSignedIn=${resolve} />`, page));
    render(null, page);
  }
  whenSignedOut(signInAgain);
  whenConfirming(confirmIdentity);
  render(html`<${Shell} />`, page);
}

// No await: a bundle's parts import this file.
void start().catch(async (problem) => {
  const { Failure } = await import("../shared/components/states.js");
  const page = /** @type {HTMLElement} */ (document.getElementById("page"));
  render(html`<main><${Failure} error=${problem} onRetry=${() => location.reload()} /></main>`, page);
});
