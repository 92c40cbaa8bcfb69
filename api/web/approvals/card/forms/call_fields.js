/** The fields of a schema, drawn. */

import { html, useId } from "../../../shared/preact.js";
import { text } from "../../../shared/texts/texts.js";
import { written } from "./fields.js";
import { FolderField } from "./folder_field.js";

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
  const label = labelOf(spec);
  const described = [spec.hint && `hint${id}`, complaint && `wrong${id}`].filter(Boolean).join(" ") || undefined;
  const about = { name: spec.name, "aria-describedby": described, "aria-invalid": complaint ? "true" : undefined };
  return html`<div class="field">
    ${
      spec.kind === "edits"
        ? html`<${Edits} spec=${spec} edits=${value ?? []} />`
        : spec.kind === "choices"
          ? html`<fieldset aria-describedby=${described}>
              <legend dir="auto">${label}</legend>
              <${Ticks} spec=${spec} value=${value ?? spec.schema.default ?? []} />
            </fieldset>`
          : html`<label for=${`field${id}`} dir="auto"
                >${label}${spec.required ? "" : ` ${text("approval.optional")}`}</label
              >
              <${Input} spec=${spec} value=${value ?? spec.schema.default} about=${{ ...about, id: `field${id}` }} />`
    }
    ${spec.hint && html`<p class="quiet" id=${`hint${id}`} dir="auto">${spec.hint}</p>`}
    ${complaint && html`<p class="field-problem" role="alert" id=${`wrong${id}`}>${complaint}</p>`}
  </div>`;
}

/** What a field of the drive is called in the page; others have the words of their schema. @param {FieldSpec} spec */
export const labelOf = (spec) => spec.label || text(`approval.field.${spec.name}`);

/** Each replacement of a text, with what it replaces. @param {{spec: FieldSpec, edits: any[]}} properties */
function Edits({ spec, edits }) {
  const id = useId();
  return edits.map(
    (edit, at) =>
      html`<div key=${at}>
        <p class="quiet">${text("approval.replaced")}${" "}<q dir="auto">${edit.find}</q></p>
        <label for=${`edit${id}${at}`}>${text("approval.replaced_by")}</label>
        <textarea
          id=${`edit${id}${at}`}
          name=${`${spec.name}.${at}`}
          rows="3"
          dir="auto"
          defaultValue=${edit.replace ?? ""}
        ></textarea>
      </div>`,
  );
}

/** @param {FieldSpec} spec @param {{value: any, label: string}} choice */
const choiceLabel = ({ name, label }, choice) =>
  !label && CHOICES.has(name) ? text(`approval.choice.${choice.value}`) : choice.label;

/** Choices of the drive's own. */
const CHOICES = new Set(["role", "on_conflict", "kinds"]);

/** @param {{spec: FieldSpec, value: any}} properties */
function Ticks({ spec, value }) {
  return spec.choices.map(
    (choice, at) =>
      html`<label class="tick" key=${at}
        ><input type="checkbox" name=${spec.name} value=${at} defaultChecked=${value.includes?.(choice.value)} /><span
          dir="auto"
          >${choiceLabel(spec, choice)}</span
        ></label
      >`,
  );
}

/** @param {{spec: FieldSpec, value: any, about: Record<string, any>}} properties */
function Input({ spec, value, about }) {
  const { kind } = spec;
  const shown = written(spec, value);
  if (kind === "folder")
    return html`<${FolderField} about=${about} label=${labelOf(spec)} value=${shown} barred=${spec.barred} />`;
  if (kind === "boolean") return html`<input type="checkbox" ...${about} defaultChecked=${value === true} />`;
  if (kind === "choice") return html`<${Choice} spec=${spec} value=${value} about=${about} />`;
  if (kind === "lines" || kind === "list" || kind === "json")
    return html`<textarea
      rows=${kind === "lines" ? 6 : 3}
      spellcheck=${kind !== "json"}
      dir="auto"
      ...${about}
      defaultValue=${shown}
    ></textarea>`;
  const type = kind === "person" ? "email" : (INPUTS[spec.schema.format] ?? "text");
  const mode = kind === "text" || kind === "person" ? undefined : kind === "integer" ? "numeric" : "decimal";
  return html`<input type=${type} inputmode=${mode} autocomplete="off" dir="auto" ...${about} defaultValue=${shown} />`;
}

/** @param {{spec: FieldSpec, value: any, about: Record<string, any>}} properties */
function Choice({ spec, value, about }) {
  const { choices, required } = spec;
  const chosen = choices.findIndex((choice) => choice.value === value);
  return html`<select ...${about}>
    ${(!required || chosen < 0) && html`<option value="" selected=${chosen < 0}>${text("approval.nothing")}</option>`}
    ${choices.map((choice, at) => html`<option key=${at} value=${at} selected=${at === chosen}>${choiceLabel(spec, choice)}</option>`)}
  </select>`;
}

/** @type {Record<string, string>} */
const INPUTS = { date: "date", email: "email" };
