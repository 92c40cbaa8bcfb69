/** A call of a tool in the words of people. */

import { text } from "../../shared/texts/texts.js";

/** @typedef {import("../conversation/turn.js").CallPart} CallPart */

/** What the assistant asks of itself, and nobody has to see. */
const SILENT = new Set(["more_tools", "transfer_to_agent", "make_plan"]);
/** @param {CallPart} call */
export const isShown = (call) => !SILENT.has(call.name);

/** What is done: the tool's words, or its name at the server of the person's own. @param {CallPart} call */
export function callTitle(call) {
  if (call.record)
    return text("chat.tool_of_server", {
      tool: call.record.toolTitle || call.record.toolName,
      server: call.record.serverName,
    });
  const code = `chat.tool.${call.name}`;
  const title = text(code);
  return title === code ? call.name.replaceAll("_", " ") : title;
}

/**
 * What it is done to: names in place of ids, what is searched for, a new name.
 * @param {CallPart} call
 * @param {Map<string, string>} names
 */
export function callSubject({ args, record }, names) {
  if (record) return "";
  const item = nameOf(args.item_id ?? args.file_id, names) || manyOf(args.item_ids);
  const folder = nameOf(args.folder_id ?? args.parent_id, names);
  const subject = quoted(args.query) || item || words(args.name) || words(args.text);
  const target = item ? words(args.name) || folder || words(args.email) : "";
  return subject && target ? `${subject} → ${target}` : subject || folder;
}

/** @param {any} query */
const quoted = (query) => (query ? `“${query}”` : "");

/** @param {any} value */
const words = (value) => (typeof value === "string" ? value : "");

/** @param {any} ids */
const manyOf = (ids) => (Array.isArray(ids) ? text("chat.items", { count: ids.length }) : "");

/** @param {any} reference an id or a path @param {Map<string, string>} names */
function nameOf(reference, names) {
  if (typeof reference !== "string") return "";
  if (reference.startsWith("/")) return reference.split("/").findLast(Boolean) ?? "/";
  return names.get(reference) ?? "";
}
