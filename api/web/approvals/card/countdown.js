/** How long there is to decide. */

import { get, serviceTime } from "../../shared/api/request.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

const SECOND = 1000;
const HURRY_SECONDS = 60;
const ASK_MS = 3000;

/** The time as 4:05, or 1:04:05. @param {number} seconds */
export function clock(seconds) {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = `${String(minutes).padStart(hours ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${tail}` : tail;
}

/**
 * Counts down by the service's clock; not read out, as nobody wants to hear every second. At the end nothing can be
 * decided any more, and the service is asked for the outcome.
 * @param {{until: string, approvalId: string, onLate: (isLate: boolean) => void, onOver: (closed: any) => void}} properties
 *   `until`: ISO 8601
 */
export function Countdown({ until, approvalId, onLate, onOver }) {
  const [now, setNow] = useState(serviceTime);
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceTime()), SECOND);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / SECOND));
  const isLate = seconds === 0;
  useEffect(() => onLate(isLate), [isLate]);
  const asked = isLate ? Math.floor(now / ASK_MS) : 0;
  useEffect(() => {
    if (!asked) return;
    get(`/api/approvals/${approvalId}`).then(
      (approval) => approval.status === "waiting" || onOver({ status: approval.status, decisions: approval.decisions }),
      () => {},
    );
  }, [asked]);
  return html`<span
    class=${seconds <= HURRY_SECONDS ? "countdown hurry" : "countdown quiet"}
    role="timer"
    aria-live="off"
    >${isLate ? text("approval.late") : text("approval.time_left", { time: clock(seconds) })}</span
  >`;
}
