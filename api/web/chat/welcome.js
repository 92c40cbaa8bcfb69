/** What stands where nothing was said yet: what one may ask. */

import { get } from "../shared/api/request.js";
import { composerRequest } from "../shared/attachments.js";
import { Icon } from "../shared/components/icon.js";
import { html, useEffect, useState } from "../shared/preact.js";
import { language } from "../shared/texts/language.js";
import { text } from "../shared/texts/texts.js";

const READABLE = /\.(md|txt|pdf|docx|html?)$/i;
const TABLE = /\.(csv|tsv|xlsx)$/i;

/** @type {Array<[string, string]>} */
const FOR_NO_FILES = [
  ["spark", "chat.suggest.abilities"],
  ["text", "chat.suggest.write"],
  ["folder", "chat.suggest.folders"],
  ["history", "chat.suggest.changes"],
];

/** Four things to ask, about what lies in the drive where that is known. */
export function Welcome() {
  const [files, setFiles] = useState(/** @type {any[] | null} */ (null));
  useEffect(() => {
    const abort = new AbortController();
    get("/api/drive/recent", { limit: 20 }, { signal: abort.signal }).then(
      (page) => setFiles(page.items),
      () => setFiles((known) => known ?? []),
    );
    return () => abort.abort();
  }, []);
  const ask = (/** @type {string} */ message) => (composerRequest.value = { message, send: true });
  return html`<div class="chat-body welcome">
    <${Icon} name="spark" />
    <h3>${text("chat.welcome")}</h3>
    <p class="quiet">${text("chat.welcome_hint")}</p>
    <ul key=${language.value}>
      ${(files ? suggestions(files) : []).map(
        ([icon, words]) =>
          html`<li>
            <button type="button" class="suggestion" onClick=${() => ask(words)}>
              <${Icon} name=${icon} />${words}
            </button>
          </li>`,
      )}
    </ul>
  </div>`;
}

/** @param {any[]} files @returns {Array<[string, string]>} */
function suggestions(files) {
  if (!files.length) return FOR_NO_FILES.map(([icon, key]) => [icon, text(key)]);
  const readable = files.find((file) => READABLE.test(file.name));
  const table = files.find((file) => TABLE.test(file.name));
  return [
    readable
      ? ["text", text("chat.suggest.summarise", { name: readable.name })]
      : ["spark", text("chat.suggest.abilities")],
    table ? ["sheet", text("chat.suggest.table", { name: table.name })] : ["search", text("chat.suggest.find")],
    ["folder", text("chat.suggest.tidy")],
    ["history", text("chat.suggest.changes")],
  ];
}
