/** Approvals that wait for the person, wherever they are in the page. */

import { loadTexts } from "../shared/texts/texts.js";

await loadTexts(import.meta.url);

/** Opens the list of waiting approvals; nothing while none waits. */
export function WaitingApprovals() {
  return null;
}
