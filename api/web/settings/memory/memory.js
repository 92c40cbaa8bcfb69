/** What the assistant remembers of the person. */

import { get, patch, remove } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { ask } from "../../shared/components/dialogs.js";
import { href } from "../../shared/location.js";
import { html } from "../../shared/preact.js";
import { shortDate } from "../../shared/texts/format.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Entry, Nothing, Section, askAndDo, attempt } from "../form/section.js";

await loadTexts(import.meta.url);

/** @typedef {import("../../shared/api/types.js").Schema<"MemoryView">} Fact */

const LONGEST = 500;

/** The section. */
export function Memory() {
  const facts = useLoaded(async () => /** @type {Fact[]} */ ((await get("/api/memories")).items));
  const edit = async (/** @type {Fact} */ fact) => {
    const words = await ask({
      title: text("memory.edit_title"),
      label: text("memory.fact"),
      value: fact.text,
      action: text("settings.save"),
      check: (typed) => (typed.length > LONGEST ? text("memory.too_long", { count: LONGEST }) : ""),
    });
    if (words === undefined) return;
    if (await attempt(() => patch(`/api/memories/${fact.id}`, { text: words }), text("settings.saved")))
      await facts.reload();
  };
  const forget = async (/** @type {Fact} */ fact) => {
    const done = await askAndDo({
      title: text("memory.forget_title"),
      body: fact.text,
      action: text("memory.forget"),
      act: () => remove(`/api/memories/${fact.id}`),
      done: text("memory.forgotten"),
    });
    if (done) await facts.reload();
  };
  return html`<${Section} title=${text("settings.section.memory")} hint=${text("memory.hint")}>
    <${Loaded} of=${facts}>
      ${(/** @type {Fact[]} */ items) => html`
        ${!items.length && html`<${Nothing}>${text("memory.none")}<//>`}
        <ul class="settings-list">
          ${items.map(
            (fact) =>
              html`<${Entry}
                key=${fact.id}
                title=${fact.text}
                facts=${[html`<${Origin} fact=${fact} />`]}
                actions=${html`<${Button} onClick=${() => edit(fact)}
                    >${text("memory.edit")}<span class="hidden"> ${fact.text}</span><//
                  ><${Button} kind="danger" onClick=${() => forget(fact)}
                    >${text("memory.forget")}<span class="hidden"> ${fact.text}</span><//
                  >`}
              />`,
          )}
        </ul>
      `}
    <//>
  <//>`;
}

/** Where a fact is from. @param {{fact: Fact}} properties */
function Origin({ fact: { source, created_at: date } }) {
  const when = shortDate(date);
  if (source.kind === "file")
    return source.file_id
      ? html`${text("memory.from_file", { date: when })}${" "}<a
            href=${href(["file", source.file_id], { version: source.version })}
            >${source.name}</a
          >`
      : text("memory.from_gone_file", { date: when, name: source.name ?? "" });
  return source.thread_id
    ? html`${text("memory.said", { date: when })}${" "}<a
          href=${href(["settings", "memory"], { thread: source.thread_id })}
          >${text("memory.conversation")}</a
        >`
    : text("memory.said", { date: when });
}
