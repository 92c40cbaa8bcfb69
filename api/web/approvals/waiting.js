/** The approvals that wait for the person, wherever they are: counted in the header and in the title, listed in a menu. */

import { Icon } from "../shared/components/icon.js";
import { openMenu } from "../shared/components/menus.js";
import { goToThread } from "../shared/location.js";
import { html, useEffect } from "../shared/preact.js";
import { side } from "../shared/sides.js";
import { loadTexts, text } from "../shared/texts/texts.js";
import { mayNotify, switchNotifications, tell, wantsNotifications } from "./notifications.js";
import { look, sentenceOf, waiting, wanted } from "./waiting_list.js";

await loadTexts(import.meta.url);

/** @typedef {import("./waiting_list.js").Approval} Approval */

const EVERY_MS = 10_000;
const MAX_SHOWN = 8;

/** Opens the list of waiting approvals; nothing while none waits. */
export function WaitingApprovals() {
  useEffect(() => {
    // Asked now and then: a stream more for each tab would take all connections that a browser has for one service.
    const ask = () => (!document.hidden || wantsNotifications()) && look();
    ask();
    const timer = setInterval(ask, EVERY_MS);
    document.addEventListener("visibilitychange", ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, []);
  const { length: count } = waiting.value;
  useEffect(() => tell(waiting.value, open), [waiting.value]);
  if (!count) return null;
  const label = text("approvals.waiting", { count });
  const list = (/** @type {MouseEvent} */ event) =>
    openMenu(/** @type {Element} */ (event.currentTarget), entries(), label);
  return html`<button
    type="button"
    class="icon-button bell waiting-approvals"
    aria-haspopup="menu"
    aria-label=${label}
    title=${label}
    onClick=${list}
  >
    <${Icon} name="lock" /><span aria-hidden="true">${count}</span>
  </button>`;
}

function entries() {
  const shown = waiting.peek().slice(0, MAX_SHOWN);
  const asked = shown.map((approval) => ({ title: sentenceOf(approval), icon: "chat", run: () => open(approval) }));
  if (!mayNotify()) return asked;
  const notify = {
    title: text("approvals.notify"),
    checked: wantsNotifications(),
    isSwitch: true,
    run: () => void switchNotifications(),
  };
  return [...asked, {}, notify];
}

/** @param {Approval} approval */
function open({ thread_id: id, approval_id: approval }) {
  side.value = "chat";
  wanted.value = approval;
  goToThread(id);
}
