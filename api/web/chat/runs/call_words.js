/** A call of a tool in the words of people. */

import { text } from "../../shared/texts/texts.js";

/** @typedef {import("../conversation/turn.js").CallPart} CallPart */

/** What the assistant asks of itself, and nobody has to see. */
const SILENT = new Set(["more_tools", "transfer_to_agent", "make_plan"]);
const TOOLS = new Set(
  (
    "list_folder get_folder_tree get_file_info create_folder rename_item move_item move_items rename_items organize_items copy_item " +
    "trash_item list_trash restore_item delete_item empty_trash create_file fill_template read_file write_file patch_file " +
    "append_to_file list_versions diff_versions compare_files get_download_url restore_version search_files semantic_search_files " +
    "check_citations query_table get_index_status reindex map_reduce_files read_bulk_result find_related_files share_item " +
    "create_share_link list_shares update_share revoke_share list_shared_with_me undo_changes redo_changes list_changes " +
    "authenticate whoami remember forget list_memories read_result"
  ).split(" "),
);

/** @param {CallPart} call */
export const isShown = (call) => !SILENT.has(call.name);

/** What is done: the tool's words, or its name at the server of the person's own. @param {CallPart} call */
export function callTitle(call) {
  if (call.record)
    return text("chat.tool_of_server", {
      tool: call.record.toolTitle || call.record.toolName,
      server: call.record.serverName,
    });
  return TOOLS.has(call.name) ? text(`chat.tool.${call.name}`) : call.name.replaceAll("_", " ");
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
