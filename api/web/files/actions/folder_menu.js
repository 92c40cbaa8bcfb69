/** What can be done in a folder itself. */

import { hasScope } from "../../shared/session.js";
import { text } from "../../shared/texts/texts.js";
import { clipboard } from "../list/selection/chosen.js";
import { newFolder, newTextFile, paste, upload } from "./operations.js";

/** Say whether the person may put something into the folder that is listed. @param {import("../list/items/listing.js").Listing} listing */
export const mayAdd = (listing) =>
  listing.kind === "folder" &&
  hasScope("write") &&
  listing.folder.value !== null &&
  listing.folder.value.role !== "viewer";

/** @param {import("../list/items/listing.js").Listing} listing @returns {import("../../shared/components/menus.js").MenuItem[]} */
export function folderMenu(listing) {
  if (!mayAdd(listing)) return [];
  const id = listing.folderId;
  const entries = [
    { title: text("files.action.new_folder"), icon: "folder", run: () => void newFolder(id) },
    { title: text("files.action.new_text"), icon: "text", run: () => void newTextFile(id) },
    {},
    { title: text("files.action.upload_files"), icon: "upload", run: () => void upload(id) },
    { title: text("files.action.upload_folder"), icon: "upload", run: () => void upload(id, true) },
  ];
  if (!clipboard.value) return entries;
  return [
    ...entries,
    {},
    { title: text("files.action.paste"), icon: "copy", keys: "Ctrl+V", run: () => void paste(id) },
  ];
}
