/** Signing in with a passkey. */

import { post } from "../../shared/api/request.js";

/** Say whether this browser has passkeys for this address. */
export const isPossible = () => typeof PublicKeyCredential !== "undefined" && Boolean(navigator.credentials);

/** Ask the browser for a passkey, and sign in with it. */
export const signInByPasskey = () => show("/api/auth/login/passkey");

/** Ask the browser for a passkey, and confirm with it who one is. */
export const proveByPasskey = () => show("/api/auth/proof/passkey");

/** @param {string} path */
async function show(path) {
  const { options } = await post("/api/auth/login/passkey/options", undefined, { anonymous: true });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const shown = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey }));
  await post(path, { credential: plain(shown.toJSON()) }, { anonymous: true });
}

/** What the service takes of the browser's answer. @param {any} shown */
function plain({ id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } }) {
  return { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } };
}
