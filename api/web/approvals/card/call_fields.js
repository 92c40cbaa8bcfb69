/** The fields of a schema, drawn. */

import { html, useId } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { written } from "./fields.js";

/** @typedef {import("./fields.js").FieldSpec} FieldSpec */
/** @typedef {Record<string, string>} Complaints sentences by the names of the fields */

/** @param {{specs: FieldSpec[], values: Record<string, any>, complaints: Complaints}} properties */
export function Fields({ specs, values, complaints }) {
  return specs.map(
    (spec) =>
      html`<${Field} key=${spec.name} spec=${spec} value=${values[spec.name]} complaint=${complaints[spec.name]} />`,
  );
}

/** @param {import("./fields.js").Complaint} complaint */
export const sentenceOf = ({ code, value }) => text(`approval.wrong.${code}`, { value });

/** @param {{spec: FieldSpec, value: any, complaint?: string}} properties */
function Field({ spec, value, complaint }) {
  const id = useId();
  const described = [spec.hint && `hint${id}`, complaint && `wrong${id}`].filter(Boolean).join(" ") || undefined;
  const about = { name: spec.name, "aria-describedby": described, "aria-invalid": complaint ? "true" : undefined };
  return html`<div class="field">
    ${
      spec.kind === "choices"
        ? html`<fieldset aria-describedby=${described}>
            <legend dir="auto">${spec.label}</legend>
            <${Ticks} spec=${spec} value=${value ?? spec.schema.default ?? []} />
          </fieldset>`
        : html`<label for=${`field${id}`} dir="auto"
              >${spec.label}${spec.required ? "" : ` ${text("approval.optional")}`}</label
            >
            <${Input} spec=${spec} value=${value ?? spec.schema.default} about=${{ ...about, id: `field${id}` }} />`
    }
    ${spec.hint && html`<p class="quiet" id=${`hint${id}`} dir="auto">${spec.hint}</p>`}
    ${complaint && html`<p class="field-problem" role="alert" id=${`wrong${id}`}>${complaint}</p>`}
  </div>`;
}

/** @param {{spec: FieldSpec, value: any}} properties */
function Ticks({ spec, value }) {
  return spec.choices.map(
    (choice, at) =>
      html`<label class="tick" key=${at}
        ><input type="checkbox" name=${spec.name} value=${at} defaultChecked=${value.includes?.(choice.value)} /><span
          dir="auto"
          >${choice.label}</span
        ></label
      >`,
  );
}

/** @param {{spec: FieldSpec, value: any, about: Record<string, any>}} properties */
function Input({ spec, value, about }) {
  const { kind, choices, required } = spec;
  const shown = written(spec, value);
  if (kind === "boolean") return html`<input type="checkbox" ...${about} defaultChecked=${value === true} />`;
  if (kind === "choice") {
    const chosen = choices.findIndex((choice) => choice.value === value);
    return html`<select ...${about}>
      ${(!required || chosen < 0) && html`<option value="" selected=${chosen < 0}>${text("approval.nothing")}</option>`}
      ${choices.map((choice, at) => html`<option key=${at} value=${at} selected=${at === chosen}>${choice.label}</option>`)}
    </select>`;
  }
  if (kind === "lines" || kind === "list" || kind === "json")
    return html`<textarea
      rows=${kind === "lines" ? 6 : 3}
      spellcheck=${kind !== "json"}
      dir="auto"
      ...${about}
      defaultValue=${shown}
    ></textarea>`;
  const type = INPUTS[spec.schema.format] ?? "text";
  const mode = kind === "text" ? undefined : kind === "integer" ? "numeric" : "decimal";
  return html`<input type=${type} inputmode=${mode} autocomplete="off" dir="auto" ...${about} defaultValue=${shown} />`;
}

/** @type {Record<string, string>} */
const INPUTS = { date: "date", email: "email" };
