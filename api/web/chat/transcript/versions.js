/** The versions of a message: which one is shown, and the way to the others. */

import { IconButton } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { active, shownVersion, showVersion } from "../conversation/conversation.js";

/** @param {{turn: import("../conversation/turn.js").Turn}} properties */
export function Versions({ turn }) {
  const { versions, runId } = turn;
  if (versions.length < 2) return null;
  const at = versions.indexOf(shownVersion.value ?? runId);
  const busy = active.value !== null;
  const to = (/** @type {number} */ index) => void showVersion(versions[index]);
  return html`<div class="versions" role="group" aria-label=${text("chat.versions")}>
    <${IconButton}
      icon="left"
      label=${text("chat.version_before")}
      disabled=${busy || at <= 0}
      onClick=${() => to(at - 1)}
    />
    <span>${at + 1}/${versions.length}</span>
    <${IconButton}
      icon="right"
      label=${text("chat.version_after")}
      disabled=${busy || at >= versions.length - 1}
      onClick=${() => to(at + 1)}
    />
  </div>`;
}
