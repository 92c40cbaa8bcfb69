/** A line across the page while the service can't be reached. */

import { online } from "../shared/api/request.js";
import { Icon } from "../shared/components/icon.js";
import { html, useEffect } from "../shared/preact.js";
import { text } from "../shared/texts/texts.js";

const TRY_EVERY = 3000;

/** Shows that the page is offline, and asks from time to time until it is not. */
export function Connection() {
  useEffect(() => {
    if (online.value) return undefined;
    const ask = () =>
      fetch("/healthz").then(
        (response) => (online.value = response.ok),
        () => undefined,
      );
    const timer = setInterval(ask, TRY_EVERY);
    addEventListener("online", ask);
    return () => {
      clearInterval(timer);
      removeEventListener("online", ask);
    };
  }, [online.value]);
  useEffect(() => {
    const lose = () => (online.value = false);
    addEventListener("offline", lose);
    return () => removeEventListener("offline", lose);
  }, []);
  return html`<div role="status" class="connection">
    ${!online.value && html`<${Icon} name="warning" />${text("app.offline")}`}
  </div>`;
}
