/** The browsers that are signed in as the person. */

import { get, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { html } from "../../shared/preact.js";
import { moment, shortDate } from "../../shared/texts/format.js";
import { text } from "../../shared/texts/texts.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Entry, Nothing, Part, askAndDo } from "../form/section.js";

/** @typedef {import("../../shared/api/types.js").Schema<"SessionResult">} Session */

/** The list, with the browser that asks first. */
export function Sessions() {
  const sessions = useLoaded(async () => {
    const { items } = await get("/api/auth/sessions");
    return /** @type {Session[]} */ (items).sort((one, other) => Number(other.is_current) - Number(one.is_current));
  });
  const end = async (/** @type {Session | null} */ session) => {
    const title = session ? text("security.end_one", { device: session.device }) : text("security.end_others");
    const done = await askAndDo({
      title,
      body: text("security.end_hint"),
      action: text("security.end"),
      act: () => remove(session ? `/api/auth/sessions/${session.id}` : "/api/auth/sessions"),
      done: text("security.ended"),
    });
    if (done) await sessions.reload();
  };
  return html`<${Part} title=${text("security.sessions")} hint=${text("security.sessions_hint")}>
    <${Loaded} of=${sessions}>
      ${(/** @type {Session[]} */ items) => html`
        ${!items.length && html`<${Nothing}>${text("security.no_sessions")}<//>`}
        <ul class="settings-list">
          ${items.map((one) => html`<${Browser} key=${one.id} session=${one} onEnd=${() => end(one)} />`)}
        </ul>
        ${
          items.some((one) => !one.is_current) &&
          html`<div class="row">
            <${Button} kind="danger" onClick=${() => end(null)}>${text("security.end_others")}<//>
          </div>`
        }
      `}
    <//>
  <//>`;
}

/** @param {{session: Session, onEnd: () => void}} properties */
function Browser({ session, onEnd }) {
  const used = session.last_used_at ?? session.created_at;
  return html`<${Entry}
    title=${session.device || text("security.unknown_device")}
    badge=${session.is_current ? text("security.this_browser") : undefined}
    facts=${[
      html`<span title=${moment(used)}>${text("security.last_used", { date: shortDate(used) })}</span>`,
      session.expires_at && text("security.until", { date: shortDate(session.expires_at) }),
    ]}
    actions=${
      !session.is_current &&
      html`<${Button} aria-label=${text("security.end_one", { device: session.device })} onClick=${onEnd}
        >${text("security.end")}<//
      >`
    }
  />`;
}
