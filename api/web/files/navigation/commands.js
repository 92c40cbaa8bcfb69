/** What the command palette offers from the files. */

import { go, isAmongFiles } from "../../shared/location.js";
import { text } from "../../shared/texts/texts.js";
import { mayAdd } from "../actions/folder_menu.js";
import { emptyTrash, newFolder, newTextFile, upload } from "../actions/operations.js";
import { redoLast, undoLast } from "../actions/reversal.js";
import { listing } from "../list/items/shown.js";
import { layout } from "../list/look.js";
import { PLACES } from "./navigation.js";

/** Return them: in the settings only those that lead elsewhere. @returns {import("../../shared/commands.js").Command[]} */
export const fileCommands = () => (isAmongFiles() ? [...adding(), ...going(), ...changing()] : going());

function adding() {
  const shown = listing.peek();
  if (!shown || !mayAdd(shown)) return [];
  const id = shown.folderId;
  return [
    { id: "files.new_folder", icon: "folder", title: text("files.action.new_folder"), run: () => newFolder(id) },
    { id: "files.new_text", icon: "text", title: text("files.action.new_text"), run: () => newTextFile(id) },
    { id: "files.upload_files", icon: "upload", title: text("files.action.upload_files"), run: () => upload(id) },
    {
      id: "files.upload_folder",
      icon: "upload",
      title: text("files.action.upload_folder"),
      run: () => upload(id, true),
    },
  ];
}

function going() {
  return PLACES.map(({ name, icon, path }) => ({
    id: `go-${name}`,
    icon,
    title: text("files.go_to", { place: text(`files.place.${name}`) }),
    run: () => go(path),
  }));
}

function changing() {
  const isRows = layout.peek() === "rows";
  const commands = [
    { id: "files.undo", icon: "undo", title: text("files.undo_last"), keys: "Ctrl+Z", run: undoLast },
    { id: "files.redo", icon: "redo", title: text("files.redo_last"), keys: "Ctrl+Shift+Z", run: redoLast },
    {
      id: "files.layout",
      icon: isRows ? "grid" : "list",
      title: text(isRows ? "files.layout.pictures" : "files.layout.rows"),
      run: () => (layout.value = isRows ? "pictures" : "rows"),
    },
  ];
  if (listing.peek()?.kind !== "trash") return commands;
  return [...commands, { id: "files.empty_trash", icon: "trash", title: text("files.empty_trash"), run: emptyTrash }];
}
