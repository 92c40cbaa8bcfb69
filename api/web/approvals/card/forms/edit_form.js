/** Another call of the same tool: its arguments changed, and checked beside each field. */

import { get } from "../../../shared/api/request.js";
import { Button } from "../../../shared/components/button.js";
import { Failure, Loading } from "../../../shared/components/states.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";
import { Fields, sentenceOf } from "./call_fields.js";
import { fieldsOf, read } from "./fields.js";
import { closeOnEscape } from "./form_keys.js";

const FIRST = "input:not([type=hidden]), textarea, select, button";

/** @typedef {import("../deciding.js").Decision} Decision */
/** @typedef {import("../card.js").Action} Action */

/** @param {{action: Action, approvalId: string, onDecide: (decision: Decision) => void, onClose: () => void}} properties */
export function EditForm({ action, approvalId, onDecide, onClose }) {
  const [found, setFound] = useState(/** @type {{schema?: any, error?: unknown}} */ ({}));
  const load = () => {
    setFound({});
    get(`/api/approvals/${approvalId}`).then(
      (approval) => setFound({ schema: approval.args_schemas[action.name] ?? {} }),
      (error) => setFound({ error }),
    );
  };
  useEffect(load, [approvalId]);
  if (found.error) return html`<${Failure} error=${found.error} onRetry=${load} />`;
  if (!found.schema) return html`<${Loading} />`;
  const kept = (/** @type {string[]} */ names) =>
    Object.fromEntries(Object.entries(action.args).filter(([name]) => !names.includes(name)));
  return html`<${SchemaForm}
    schema=${found.schema}
    values=${action.args}
    editable=${action.editable ?? {}}
    action=${text("approval.edit_send")}
    onSend=${(/** @type {Record<string, any>} */ values, /** @type {string[]} */ names) =>
      onDecide({ type: "edit", args: { ...kept(names), ...values } })}
    onClose=${onClose}
  />`;
}

/**
 * A form for an object of a schema.
 * @param {{schema: Record<string, any>, values: Record<string, any>, action: string, editable?: Record<string, string> | null,
 *   complaints?: import("./call_fields.js").Complaints, onSend: (values: Record<string, any>, names: string[]) => void,
 *   onClose?: () => void, more?: any}} properties `names` of the fields that were there
 */
export function SchemaForm({ schema, values, action, editable = null, complaints = {}, onSend, onClose, more }) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const specs = useMemo(() => fieldsOf(schema, values, editable), [schema]);
  const [wrong, setWrong] = useState(/** @type {import("./call_fields.js").Complaints} */ ({}));
  useLayoutEffect(() => {
    if (onClose)
      /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector(FIRST))?.focus();
  }, []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!form.current) return;
    const { values: typed, complaints: found } = read(specs, new FormData(form.current), values);
    setWrong(Object.fromEntries(Object.entries(found).map(([name, one]) => [name, sentenceOf(one)])));
    const first = specs.find((spec) => spec.name in found);
    if (first) /** @type {any} */ (form.current.elements.namedItem(first.name))?.focus?.();
    else
      onSend(
        typed,
        specs.map((spec) => spec.name),
      );
  };
  return html`<form
    ref=${form}
    class="approval-form"
    novalidate
    onSubmit=${submit}
    onKeyDown=${onClose && closeOnEscape(onClose)}
  >
    ${specs.length ? html`<${Fields} specs=${specs} values=${values} complaints=${{ ...complaints, ...wrong }} />` : html`<p class="quiet">${text("approval.no_fields")}</p>`}
    <div class="row">
      <${Button} kind="main" type="submit">${action}<//>
      ${onClose && html`<${Button} onClick=${onClose}>${text("shared.cancel")}<//>`} ${more}
    </div>
  </form>`;
}
