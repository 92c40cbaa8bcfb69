/** What others shared with the person, and what their programs deleted for good without asking. */

import { get, post } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { href } from "../../shared/location.js";
import { html, useState } from "../../shared/preact.js";
import { shortDate } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Entry, Nothing, Section, attempt } from "../form/section.js";

await loadTexts(import.meta.url);

/** @typedef {import("../../shared/api/types.js").Schema<"NoticeResult">} Notice */
/** @typedef {{items: Notice[], unread: number, cursor: string | null}} Page */

/** The section. */
export function Notices() {
  const notices = useLoaded(async () => /** @type {Page} */ (await get("/api/notices")));
  const [isBusy, setBusy] = useState(false);
  const readAll = async () => {
    if (await attempt(() => post("/api/notices/read", {}))) await notices.reload();
  };
  const more = async (/** @type {Page} */ page) => {
    setBusy(true);
    await attempt(async () => {
      const next = /** @type {Page} */ (await get("/api/notices", { cursor: page.cursor }));
      notices.setValue({ ...next, items: [...page.items, ...next.items] });
    });
    setBusy(false);
  };
  return html`<${Section} title=${text("settings.section.notices")} hint=${text("notices.hint")}>
    <${Loaded} of=${notices}>
      ${(/** @type {Page} */ page) => html`
        ${page.unread > 0 && html`<div class="row"><${Button} icon="check" onClick=${readAll}>${text("notices.read_all")}<//></div>`}
        ${!page.items.length && html`<${Nothing}>${text("notices.none")}<//>`}
        <ul class="settings-list">
          ${page.items.map((one) => html`<${Row} key=${one.id} notice=${one} />`)}
        </ul>
        ${
          page.cursor &&
          html`<div class="row">
            <${Button} aria-disabled=${isBusy ? "true" : undefined} onClick=${() => !isBusy && more(page)}
              >${text("notices.more")}<//
            >
          </div>`
        }
      `}
    <//>
  <//>`;
}

/** @param {{notice: Notice}} properties */
function Row({ notice: { id, item, text: words, created_at: date, read_at: read } }) {
  const seen = () => void (read ?? post("/api/notices/read", { ids: [id] }).catch(() => undefined));
  return html`<${Entry}
    title=${words}
    badge=${read ? undefined : text("notices.new")}
    facts=${[
      item
        ? html`<a href=${href([item.kind === "folder" ? "folder" : "file", item.id])} onClick=${seen}
              ><bdi>${item.name}</bdi></a
            >${" · "}${shortDate(date)}`
        : shortDate(date),
    ]}
  />`;
}
