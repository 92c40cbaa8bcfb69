/** Groups of people, for administrators. */

import { get, patch, post, remove } from "../../shared/api/request.js";
import { Button, IconButton } from "../../shared/components/button.js";
import { ask } from "../../shared/components/dialogs.js";
import { html } from "../../shared/preact.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { Field, Form, valueOf } from "../form/form.js";
import { Loaded, useLoaded } from "../form/loaded.js";
import { Nothing, Part, Section, askAndDo, attempt } from "../form/section.js";

await loadTexts(import.meta.url);

/** @typedef {import("../../shared/api/types.js").Schema<"GroupResult">} Group */

/** The section. */
export function Groups() {
  const groups = useLoaded(async () => /** @type {Group[]} */ ((await get("/api/groups")).items));
  const add = async (/** @type {FormData} */ fields) => {
    await post("/api/groups", { name: valueOf(fields, "name").trim() });
    await groups.reload();
  };
  return html`<${Section} title=${text("settings.section.groups")} hint=${text("groups.hint")}>
    <${Form} onSave=${add} action=${text("groups.add")} reset>
      <${Field} name="name" label=${text("groups.name")} required />
    <//>
    <${Loaded} of=${groups}>
      ${(/** @type {Group[]} */ items) => html`
        ${!items.length && html`<${Nothing}>${text("groups.none")}<//>`}
        ${items.map((one) => html`<${Members} key=${one.id} group=${one} reload=${groups.reload} />`)}
      `}
    <//>
  <//>`;
}

/** @param {{group: Group, reload: () => Promise<void>}} properties */
function Members({ group, reload }) {
  const path = `/api/groups/${group.id}`;
  const change = async (/** @type {Record<string, any>} */ fields) => {
    await patch(path, fields);
    await reload();
  };
  const add = (/** @type {FormData} */ fields) => change({ add: [valueOf(fields, "email").trim()] });
  const rename = async () => {
    const name = await ask({
      title: text("groups.rename_title", { name: group.name }),
      label: text("groups.name"),
      value: group.name,
      action: text("settings.save"),
    });
    if (name) await attempt(() => change({ name }));
  };
  const forget = async () => {
    const done = await askAndDo({
      title: text("groups.delete_title", { name: group.name }),
      body: text("groups.delete_hint"),
      action: text("groups.delete"),
      act: () => remove(path),
      done: text("groups.deleted", { name: group.name }),
    });
    if (done) await reload();
  };
  const named = html`<span class="hidden"> ${group.name}</span>`;
  return html`<${Part} title=${group.name}>
    ${!group.members?.length && html`<${Nothing}>${text("groups.empty")}<//>`}
    <ul class="settings-chips">
      ${(group.members ?? []).map(
        (email) =>
          html`<li key=${email}>
            <bdi>${email}</bdi
            ><${IconButton}
              icon="close"
              label=${text("groups.take_out", { email, name: group.name })}
              onClick=${() => attempt(() => change({ remove: [email] }))}
            />
          </li>`,
      )}
    </ul>
    <${Form}
      label=${text("groups.add_to", { name: group.name })}
      onSave=${add}
      action=${html`${text("groups.add_member")}${named}`}
      reset
      more=${html`<${Button} onClick=${rename}>${text("groups.rename")}${named}<//>
        <${Button} kind="danger" onClick=${forget}>${text("groups.delete")}${named}<//>`}
    >
      <${Field} name="email" type="email" label=${text("groups.email")} required />
    <//>
  <//>`;
}
