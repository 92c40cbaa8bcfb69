/** Signing in again over the page, when the session ended in the middle of work: nothing of it is lost. */

import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { html } from "../../shared/preact.js";
import { me } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { Ways } from "./ways.js";

/** Ask; answers whether the person is signed in again. Somebody else gets a page of their own. @returns {Promise<boolean>} */
export async function signInAgain() {
  const before = me.peek()?.email;
  const done = await showDialog(
    (close) =>
      html`<${Dialog} title=${text("sign_in.again")} class="sign-in-again" onClose=${() => close(false)}
        ><${Ways} onSignedIn=${close}
      /><//>`,
  );
  if (done && before !== me.peek()?.email) {
    location.reload();
    return new Promise(() => {});
  }
  return Boolean(done);
}
