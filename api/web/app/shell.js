/** The page around the rooms: files on one side, the conversation on the other. */

import { WaitingApprovals } from "../approvals/waiting.js";
import { ChatPane } from "../chat/pane.js";
import { FilesPane } from "../files/pane.js";
import { DialogHost } from "../shared/components/dialogs.js";
import { MenuHost } from "../shared/components/menus.js";
import { NoticeHost } from "../shared/components/notices.js";
import { Icon } from "../shared/components/icon.js";
import { place } from "../shared/location.js";
import { html, useEffect } from "../shared/preact.js";
import { side } from "../shared/sides.js";
import { text } from "../shared/texts/texts.js";
import { tray } from "../shared/tray.js";
import { AccountButton } from "./account.js";
import { Bell } from "./bell.js";
import { Connection } from "./connection.js";
import { Divider } from "./divider.js";
import { Lazy } from "../shared/components/lazy.js";
import { PaletteButton, useKeys } from "./palette_button.js";

/** What stands in the place of the files, by the first part of the place. @type {Record<string, () => Promise<any>>} */
const ROOMS = {
  settings: () => import("../settings/settings.js").then((module) => module.Settings),
  changes: () => import("../changes/activity.js").then((module) => module.Activity),
};

/** The whole page of who is signed in. */
export function Shell() {
  useKeys();
  const room = place.value.path[0];
  const load = ROOMS[room];
  useEffect(() => {
    document.body.dataset.side = side.value;
  }, [side.value]);
  useEffect(goOnWithUploads, []);
  return html`
    <header class="top">
      <a class="skip" href="#assistant" onClick=${toComposer}>${text("app.skip_to_composer")}</a>
      <h1>
        <a class="brand" href="#/folder/root"><${Icon} name="spark" />${text("app.name")}</a>
      </h1>
      <${PaletteButton} />
      <${WaitingApprovals} />
      <${Bell} />
      <${AccountButton} />
    </header>
    <${Connection} />
    <main class="sides">
      <section class="side files-side" aria-label=${text("app.files")}>
        ${load ? html`<${Lazy} key=${room} load=${load} />` : html`<${FilesPane} />`}
        ${tray.value && html`<${tray.value} />`}
      </section>
      <${Divider} />
      <section class="side chat-side" id="assistant" tabindex="-1" aria-label=${text("app.assistant")}>
        <${ChatPane} />
      </section>
      <${MenuHost} />
    </main>
    <${SideTabs} />
    <${NoticeHost} /><${DialogHost} />
  `;
}

/** Uploads that an earlier page did not finish go on. */
function goOnWithUploads() {
  if (localStorage.getItem("unfinished-uploads"))
    import("../files/uploads/uploads.js").then((module) => module.resumeUploads());
}

/** @param {Event} event */
function toComposer(event) {
  event.preventDefault();
  side.value = "chat";
  // Without a field to write in, in the list of conversations, the side itself.
  (document.getElementById("composer") ?? document.getElementById("assistant"))?.focus();
}

/** Which side is shown where there is room for one only. */
function SideTabs() {
  /** @type {Array<["files" | "chat", string, string]>} */
  const tabs = [
    ["files", "folder", text("app.files")],
    ["chat", "chat", text("app.assistant")],
  ];
  return html`<nav class="side-tabs" aria-label=${text("app.sides")}>
    ${tabs.map(
      ([name, icon, title]) =>
        html`<button
          type="button"
          aria-current=${side.value === name ? "page" : undefined}
          onClick=${() => (side.value = name)}
        >
          <${Icon} name=${icon} />${title}
        </button>`,
    )}
  </nav>`;
}
