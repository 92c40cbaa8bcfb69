/** How many things others shared that the person has not seen; nothing is shown when there are none. */

import { get } from "../shared/api/request.js";
import { Icon } from "../shared/components/icon.js";
import { href, place } from "../shared/location.js";
import { html, useEffect, useSignal } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";

const EVERY = 60_000;

/** Leads to the list. */
export function Bell() {
  const unread = useSignal(0);
  const isList = place.value.path[1] === "notices";
  useEffect(() => {
    // Asked now and then: a stream more for each tab would take all connections that a browser has for one service.
    const ask = () => {
      if (document.hidden) return;
      get("/api/notices", { unread: true, limit: 1 }).then(
        (found) => (unread.value = found.unread),
        () => undefined,
      );
    };
    ask();
    const timer = setInterval(ask, EVERY);
    document.addEventListener("visibilitychange", ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [isList]);
  if (!unread.value) return null;
  const label = text("app.unread", { count: unread.value });
  return html`<a class="icon-button bell" href=${href(["settings", "notices"])} aria-label=${label} title=${label}
    ><${Icon} name="bell" /><span aria-hidden="true">${unread.value}</span></a
  >`;
}
