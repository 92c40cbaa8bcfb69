/** Notifications of the system about approvals: only after the person switched them on, and while the page is hidden. */

import { text } from "../shared/texts/texts.js";
import { sentenceOf } from "./waiting_list.js";

/** @typedef {import("./waiting_list.js").Approval} Approval */

const KEPT = "approval-notifications";
/** @type {Set<string>} */
const told = new Set();

/** Say whether the browser can show notifications, and the person has not forbidden them. */
export const mayNotify = () => typeof Notification !== "undefined" && Notification.permission !== "denied";

/** Say whether the person switched them on in this browser. */
export const wantsNotifications = () =>
  mayNotify() && Notification.permission === "granted" && localStorage.getItem(KEPT) === "on";

/** Switch them on or off; the browser asks the person the first time. */
export async function switchNotifications() {
  const isOn = !wantsNotifications() && (await Notification.requestPermission()) === "granted";
  localStorage.setItem(KEPT, isOn ? "on" : "off");
}

/**
 * Tell each approval once.
 * @param {Approval[]} approvals
 * @param {(approval: Approval) => void} open
 */
export function tell(approvals, open) {
  const fresh = approvals.filter((one) => !told.has(one.approval_id));
  for (const { approval_id: id } of fresh) told.add(id);
  if (!document.hidden || !wantsNotifications()) return;
  for (const approval of fresh) {
    const shown = new Notification(text("approvals.needed"), { body: sentenceOf(approval), tag: approval.approval_id });
    shown.onclick = () => {
      window.focus();
      open(approval);
      shown.close();
    };
  }
}
