/** Signing in again over the page, when the session ended in the middle of work: nothing of it is lost. */

import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { SignIn } from "./sign_in.js";

/** Ask; answers whether the person is signed in again. @returns {Promise<boolean>} */
export async function signInAgain() {
  const done = await showDialog(
    (close) =>
      html`<${Dialog} title=${text("sign_in.again")} onClose=${() => close(false)}
        ><${SignIn} onSignedIn=${close}
      /><//>`,
  );
  return Boolean(done);
}
