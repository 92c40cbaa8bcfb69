/** The fields of a form, made of a JSON schema, and what is written in them as arguments. Pure. */

/**
 * @typedef {object} FieldSpec
 * @property {string} name
 * @property {string} label
 * @property {string} hint
 * @property {"text" | "lines" | "number" | "integer" | "boolean" | "choice" | "choices" | "list" | "json" | "folder" | "person" | "edits"} kind
 * @property {Array<{value: any, label: string}>} choices
 * @property {boolean} required
 * @property {boolean} nullable nothing may stand there
 * @property {string[]} barred ids of what the call is about: no folder among them, nor in them, can be its target
 * @property {Record<string, any>} schema
 */
/** @typedef {{code: string, value?: any}} Complaint a key of the room's texts, and what it is about */

const ADDRESS = /^[^\s@]+@[^\s@]+$/;
const LONG = 60;
const MAX_ON_A_LINE = 10_000;

/**
 * @param {Record<string, any>} schema of an object
 * @param {Record<string, any>} values what stands in the fields at first
 * @param {Record<string, string> | null} [editable] the fields that a person can mean something by, with their kinds;
 *   those of the drive have names and hints of the page (null: all are there, in the schema's own words)
 * @returns {FieldSpec[]} those with a value first, as they are more likely to be changed
 */
export function fieldsOf(schema, values, editable = null) {
  const required = new Set(schema.required ?? []);
  const all = Object.entries(schema.properties ?? {}).filter(([name]) => !editable || name in editable);
  const barred = [values.item_id, values.item_ids].flat().filter(Boolean);
  const specs = all.map(([name, own]) => {
    const { schema: one, nullable } = plain(own, schema);
    const meant = editable?.[name] ?? "value";
    const { kind, choices } = meantAs(meant, kindOf(one, values[name]));
    const label = meant === "value" ? (one.title ?? name.replaceAll("_", " ")) : "";
    return {
      name,
      label,
      hint: meant === "value" ? (one.description ?? "") : "",
      kind,
      choices,
      required: required.has(name),
      nullable,
      barred,
      schema: one,
    };
  });
  const isGiven = (/** @type {FieldSpec} */ spec) => values[spec.name] !== undefined && values[spec.name] !== null;
  return [...specs.filter(isGiven), ...specs.filter((spec) => !isGiven(spec))];
}

/**
 * The schema of a value, without the wrapping of one that may be missing, or stands elsewhere.
 * @param {any} own
 * @param {Record<string, any>} root
 * @returns {{schema: Record<string, any>, nullable: boolean}}
 */
function plain(own, root) {
  const said = typeof own === "object" && own ? own : {};
  const found = typeof said.$ref === "string" ? (root.$defs?.[said.$ref.split("/").at(-1)] ?? {}) : said;
  const options = found.anyOf ?? found.oneOf;
  if (!Array.isArray(options) || options.some((one) => "const" in one)) return { schema: found, nullable: false };
  const real = options.filter((one) => one.type !== "null");
  if (real.length !== 1) return { schema: { ...found, anyOf: undefined, oneOf: undefined }, nullable: true };
  const around = { ...found, anyOf: undefined, oneOf: undefined };
  const inside = plain(real[0], root).schema;
  return {
    schema: { ...around, ...inside, title: found.title, description: found.description },
    nullable: real.length < options.length,
  };
}

/** @type {Record<string, FieldSpec["kind"]>} */
const KINDS = { folder: "folder", person: "person", edits: "edits", text: "lines" };

/** @param {string} meant @param {Pick<FieldSpec, "kind" | "choices">} found @returns {Pick<FieldSpec, "kind" | "choices">} */
const meantAs = (meant, found) => ({ ...found, kind: KINDS[meant] ?? found.kind });

/** @param {Record<string, any>} schema @param {any} value @returns {Pick<FieldSpec, "kind" | "choices">} */
function kindOf(schema, value) {
  const choices = choicesOf(schema);
  if (choices.length) return { kind: "choice", choices };
  if (schema.type === "array") return listKindOf(schema.items ?? {});
  if (schema.type === "string" || (schema.type === undefined && typeof value === "string")) {
    return { kind: isLong(value) || schema.maxLength > MAX_ON_A_LINE ? "lines" : "text", choices };
  }
  return { kind: ["boolean", "number", "integer"].includes(schema.type) ? schema.type : "json", choices };
}

/** @param {Record<string, any>} items @returns {Pick<FieldSpec, "kind" | "choices">} */
function listKindOf(items) {
  const choices = choicesOf(items);
  if (choices.length) return { kind: "choices", choices };
  return { kind: items.type === "string" ? "list" : "json", choices };
}

/** @param {any} value */
const isLong = (value) => typeof value === "string" && (value.includes("\n") || value.length > LONG);

/** @param {Record<string, any>} schema @returns {Array<{value: any, label: string}>} */
function choicesOf(schema) {
  const named = (schema.oneOf ?? schema.anyOf ?? []).filter((/** @type {any} */ one) => "const" in one);
  if (named.length)
    return named.map((/** @type {any} */ one) => ({ value: one.const, label: one.title ?? String(one.const) }));
  return (schema.enum ?? []).map((/** @type {any} */ value, /** @type {number} */ at) => ({
    value,
    label: schema.enumNames?.[at] ?? String(value),
  }));
}

/** What stands in a field for a value. @param {FieldSpec} spec @param {any} value */
export function written(spec, value) {
  if (value === undefined || value === null) return "";
  if (spec.kind === "list") return value.join("\n");
  return spec.kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/**
 * Read what was written.
 * @param {FieldSpec[]} specs
 * @param {FormData} form
 * @param {Record<string, any>} [before] the values that the form began with
 * @returns {{values: Record<string, any>, complaints: Record<string, Complaint>}} `values` has only what was filled in
 */
export function read(specs, form, before = {}) {
  /** @type {Record<string, any>} */
  const values = {};
  /** @type {Record<string, Complaint>} */
  const complaints = {};
  for (const spec of specs) {
    const { value, complaint } = readOne(spec, form, before[spec.name]);
    const found = complaint ?? (value === undefined ? missing(spec) : outside(spec, value));
    if (found) complaints[spec.name] = found;
    else if (value !== undefined) values[spec.name] = value;
  }
  return { values, complaints };
}

/** @param {FieldSpec} spec @param {FormData} form @param {any} before @returns {{value?: any, complaint?: Complaint}} */
function readOne(spec, form, before) {
  const { name, kind, choices } = spec;
  if (kind === "boolean") return { value: form.has(name) };
  if (kind === "choices")
    return { value: choices.filter((_, at) => form.getAll(name).includes(String(at))).map((one) => one.value) };
  if (kind === "edits") return { value: readEdits(name, form, before) };
  const typed = String(form.get(name) ?? "");
  if (kind === "text" || kind === "lines" || kind === "folder") return { value: typed || undefined };
  return typed.trim() ? readTyped(typed, spec) : {};
}

/** @param {string} name @param {FormData} form @param {any[]} [before] */
const readEdits = (name, form, before = []) =>
  before.map((edit, at) => ({ ...edit, replace: String(form.get(`${name}.${at}`) ?? edit.replace ?? "") }));

/** @param {string} typed @param {FieldSpec} spec @returns {{value?: any, complaint?: Complaint}} */
function readTyped(typed, { kind, choices }) {
  if (kind === "choice") return { value: choices[Number(typed)]?.value };
  if (kind === "person") return readPerson(typed.trim());
  if (kind === "json") return readJson(typed);
  if (kind !== "list") return readNumber(typed, kind);
  const lines = typed.split("\n").map((line) => line.trim());
  return { value: lines.filter(Boolean) };
}

/** @param {string} typed @returns {{value?: string, complaint?: Complaint}} */
function readPerson(typed) {
  return ADDRESS.test(typed) ? { value: typed } : { complaint: { code: "email" } };
}

/** @param {string} typed @param {string} kind */
function readNumber(typed, kind) {
  const value = Number(typed);
  if (!Number.isFinite(value)) return { complaint: { code: "number" } };
  return kind === "integer" && !Number.isSafeInteger(value) ? { complaint: { code: "integer" } } : { value };
}

/** @param {string} typed */
function readJson(typed) {
  try {
    return { value: JSON.parse(typed) };
  } catch {
    return { complaint: { code: "json" } };
  }
}

/** @param {FieldSpec} spec @returns {Complaint | null} */
const missing = (spec) => (spec.required ? { code: "required" } : null);

/** Compare a value with the bounds of its schema. @param {FieldSpec} spec @param {any} value @returns {Complaint | null} */
function outside({ schema }, value) {
  const size = typeof value === "number" ? value : (value?.length ?? null);
  const [least, most] =
    typeof value === "number"
      ? [schema.minimum, schema.maximum]
      : Array.isArray(value)
        ? [schema.minItems, schema.maxItems]
        : [schema.minLength, schema.maxLength];
  const unit = typeof value === "number" ? "value" : Array.isArray(value) ? "items" : "length";
  if (size === null) return null;
  if (typeof least === "number" && size < least) return { code: `least_${unit}`, value: least };
  return typeof most === "number" && size > most ? { code: `most_${unit}`, value: most } : null;
}
