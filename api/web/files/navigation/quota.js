/** How much the person keeps, and how much there is room for. */

import { loadMe, me } from "../../shared/session.js";
import { onDriveChange } from "../../shared/drive_events.js";
import { html, useEffect } from "../../shared/preact.js";
import { size } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";

const WAIT_MS = 3000;
const NEARLY_FULL = 0.9;

/** A line, with a meter where there is a limit. */
export function Quota() {
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const end = onDriveChange(() => {
      clearTimeout(timer);
      timer = setTimeout(() => loadMe().catch(() => undefined), WAIT_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, []);
  const { used_bytes: used = 0, quota_bytes: limit = 0 } = me.value ?? {};
  const words = limit
    ? text("files.quota", { used: size(used), limit: size(limit) })
    : text("files.used", { used: size(used) });
  const share = limit ? used / limit : 0;
  return html`<div class="quota">
    ${
      limit > 0 &&
      html`<meter
        min="0"
        max="1"
        value=${Math.min(1, share)}
        high=${NEARLY_FULL}
        aria-label=${text("files.quota_label")}
      >
        ${words}
      </meter>`
    }
    <span>${words}</span>
  </div>`;
}
