"""What the offline model says, in English. Names come in quotation marks, paths as code."""

from typing import Final

PHRASES: Final[dict[str, str]] = {
    # about itself
    "identity": "I'm the built-in offline model of Drive Agent: a small set of rules, not a language model. I run "
    "without "
    "network and without a key, in English and Chinese, and I find, read, organise and share what is in your drive. "
    "{real_model}",
    "real_model": "For anything beyond that, set a real model: OPENAI_API_KEY (with OPENAI_BASE_URL for another "
    "service, and "
    "AGENT_MODEL for its name), then start again.",
    "abilities": "This is what I can do:\n"
    "- find, read and summarise documents, and answer questions from them, with the source\n"
    "- list folders, show the folder tree, versions, who has access, and recent changes\n"
    "- create folders and files, rename, move, delete (to the trash) and restore\n"
    "- share with a person as viewer or editor, and take access back\n"
    "- replace or add text in a document, and go back to an earlier version\n"
    "- undo what was done",
    "help": "I'm the built-in offline model: rules, not a language model.\n{abilities}\n\nFor example: “find the "
    "document about "
    "parental leave and summarise it”, “move plan.md to Archive”, “share it with bob@example.com as editor”, “undo "
    "that”. "
    "{real_model}",
    "beyond": "That is beyond me: I'm the built-in offline model, a small set of rules. {abilities}\n\n{real_model}",
    "beyond_write": "I can't write, rewrite or correct text: I'm the built-in offline model, a small set of rules. I "
    "can replace "
    "or add the exact words you give me, for example “replace 30 days with 45 days in this document”, or summarise "
    "what is "
    "there. {real_model}",
    "beyond_translate": "I can't translate: I'm the built-in offline model, a small set of rules. {real_model}",
    "beyond_world": "I only know what is in your drive: I'm the built-in offline model, without network. {real_model}",
    "beyond_tool": "There is no tool for that here. {abilities}\n\n{real_model}",
    "beyond_judge": "That takes judgement, which I don't have: I'm the built-in offline model, a small set of rules. "
    "Tell me "
    "exactly what should go where, and I'll do it. {real_model}",
    "beyond_share": "I can share with a person's email address, as viewer or editor. Public links and other owners "
    "are not "
    "possible here.",
    "beyond_purge": "Nothing is deleted for good here: deleting moves things to the trash, from which they can be "
    "restored. I "
    "can move it to the trash if you say “delete …”.",
    "unclear": "I didn't understand that: I'm the built-in offline model, a small set of rules. "
    "{abilities}\n\n{real_model}",
    "greet": "Hello! I'm the built-in offline model of your drive. Tell me what to find, read, organise or share; "
    "“help” shows what "
    "I understand.",
    "thanks": "You're welcome.",
    "confirm": "A chat message doesn't decide anything: what waits for you is approved or rejected in its own "
    "question. If nothing "
    "waits, tell me what to do.",
    "decline": "All right, I'll leave it.",
    # can't
    "no_tool": "I can't do that here: it needs {tool}, which I don't have in this role. {who}",
    "who_document_agent": "Changing the text of a document is the Document agent's work: ask for it in a message of "
    "its own.",
    "who_drive_agent": "Organising and sharing is the Drive agent's work: ask for it in a message of its own.",
    "who_search_agent": "Finding and reading is the Search agent's work: ask for it in a message of its own.",
    "out_of_rounds": "I stopped after several rounds without getting to the end. {done}",
    "done_so_far": "Done so far:\n{list}",
    "nothing_done": "Nothing was changed.",
    "no_document": "No document is open. Open one, or name it, for example “… in plan.md”.",
    "which_item": "Which file or folder do you mean? Please name it.",
    "which_document": "Which document do you mean? Please name it, or open it.",
    "which_folder": "Which folder do you mean? Please name it.",
    "not_found": "I found nothing called {name}.",
    "not_found_folder": "I found no folder called {name}.",
    "not_found_in": "I found nothing called {name} in {folder}.",
    "nothing_about": "I found no document about {topic}.",
    "did_you_mean": "Did you mean {name}, {path}?",
    "ambiguous": "There are several that fit {name}. Which one do you mean?\n{list}",
    "ambiguous_it": "There are several. Which one do you mean?\n{list}",
    "nothing_remembered": "I don't know what you mean by that. Please name the file or folder.",
    "not_a_folder": "{name} is a file, not a folder.",
    "not_a_file": "{name} is a folder, not a file.",
    "which_choice": "I don't know what to choose from. Please name what you mean.",
    "missing_name": "What should it be called?",
    "missing_address": "With whom? Please give me the email address.",
    "missing_address_of": "I need the email address of {person}. Please give it to me.",
    "missing_destination": "Where should it go? Please name a folder.",
    "missing_content": "What should be added? Please give me the text.",
    "which_version": "Which version? Please give me its number; “show the versions” lists them.",
    # failures
    "rejected": "You rejected it, so I did nothing: {what}.",
    "expired": "The approval expired before it was answered, so I did nothing: {what}.",
    "answered": "I did nothing ({what}). Your answer: {message}",
    "moved on": "That was not done, because you moved on: {what}.",
    "unknown": "It was interrupted before the result came: {what} may or may not have happened. Please look before "
    "it is done again.",
    "failed": "That did not work ({what}): {message}",
    "some_failed": "This did not work:\n{list}",
    # done
    "created_folder": "Created the folder {name}: {path}.",
    "folder_exists": "There is a folder {name} already: {path}. I use that one.",
    "created_file": "Created {name}: {path}.",
    "saved_summary": "There was no file with a summary, so I saved the one I gave you as {name}: {path}.",
    "saved_answer": "Saved as {name}: {path}.",
    "no_summary": "I found no file with a summary, and I have given none in this conversation. Which file do you mean?",
    "no_answer_to_save": "There is nothing in this conversation yet that I could save.",
    "renamed": "Renamed {old} to {name}: {path}.",
    "called": "It is called {name} now: {path}.",
    "moved": "Moved {name} to {folder}: {path}.",
    "moved_many": "Moved {count} items to {folder}:\n{list}",
    "already_there": "{name} is in {folder} already.",
    "into_itself": "A folder can't be moved into itself.",
    "shared": "Shared {name} with {email} as {role}.",
    "revoked": "{email} has no access to {name} any more.",
    "not_shared": "{name} is not shared with anybody.",
    "shares": "{name} is shared with:\n{list}",
    "share_line": "- {email} ({role})",
    "share_line_inherited": "- {email} ({role}, through {folder})",
    "trashed": "Moved {name} to the trash.",
    "trashed_many": "Moved {count} items to the trash:\n{list}",
    "folder_empty": "{folder} is empty: there is nothing to delete.",
    "folder_empty_of": "There is no {extension} file in {folder}.",
    "more_left": "There are {count} more in {folder}. Say it again to go on.",
    "restored": "Restored {name}: {path}.",
    "not_in_trash": "There is nothing called {name} in the trash.",
    "trash_empty": "The trash is empty.",
    "edited": "Changed {name}: {edits}. It is version {version} now.",
    "edited_plain": "Changed {name}: {edits}.",
    "edit_line": "{find} → {replace} ({count}×)",
    "edit_line_removed": "{find} removed ({count}×)",
    "no_match": "{find} does not occur in {name}. Nothing was changed.",
    "no_match_near": "{find} does not occur in {name}. Nothing was changed. The nearest is:\n> {line}",
    "inserted": "Added to {name}: “{content}”.",
    "no_anchor": "I don't find {anchor} in {name}. Nothing was changed.",
    "version_restored": "{name} has the content of version {version} again; that is version {new} now.",
    "one_version": "{name} has only one version.",
    "versions": "Versions of {name}:",
    "version_line": "- {number}: {date}, {author}, {size}",
    "version_current": " (current)",
    "undone": "Taken back:\n{list}",
    "undone_nothing": "There was nothing to take back.",
    "undo_skipped": "Left as it is:\n{list}",
    "can_undo": "“Undo that” takes it back.",
    "can_restore": "It can be restored from the trash; “undo that” takes it back.",
    "can_redo": "The undo can be undone too.",
    # looking
    "found_one": "Found {name}: {path}.",
    "found_many": "Found {count}:",
    "found_more": "There are more; name it more exactly to see fewer.",
    "found_nothing": "I found nothing for {query}.",
    "still_indexing": "Some files are not searchable yet; try again in a moment.",
    "listing": "{folder} has {count}:",
    "listing_empty": "{folder} is empty.",
    "listing_trash": "In the trash:",
    "listing_shared": "Shared with you:",
    "shared_empty": "Nobody shared anything with you.",
    "listing_more": "… and {count} more.",
    "listing_cut": "… and more.",
    "here": "Your drive",
    "tree": "{folder}:",
    "item_one": "{count} item",
    "item_many": "{count} items",
    "info": "{name}\n- path: {path}\n- kind: {kind}\n- size: {size}\n- version: {version}\n- owner: {owner}\n- your "
    "role: {role}\n"
    "- created: {created}\n- changed: {changed}",
    "info_folder": "{name}\n- path: {path}\n- kind: folder\n- items: {count}\n- owner: {owner}\n- your role: {role}\n"
    "- created: {created}\n- changed: {changed}",
    "text": "{name}, {path}, lines {first}–{last} of {total}:",
    "text_empty": "{name} is empty.",
    "text_more": "… this is the beginning; it has {total} lines.",
    "changes": "The latest changes:",
    "changes_none": "Nothing was changed yet.",
    "change_undone": " (taken back)",
    "whoami": "You are {email}. Your access covers: {scopes}.",
    # answers from documents
    "summary_title": "**Summary of {topic}**",
    "summary_unreadable": "{name} has no text that I could summarise.",
    "summary_source": "Source: {name}, {path}, {lines}: {passage}",
    "summary_partial": "I read {shown} of its {total} characters.",
    "also_about": "Also about this: {list}.",
    "answer": "{name} ({path}, {lines}) says:\n\n> {passage}",
    "answer_unsure": "I found no clear answer. The nearest passage is in {name} ({path}, {lines}):\n\n> {passage}",
    "answer_none": "I found nothing about that in your documents.",
    "answer_none_here": "This document says nothing about that.",
    "answer_also": "See also {list}.",
    "answer_honest": "I only quote: as the offline model I can't draw conclusions.",
    "line": "line {first}",
    "lines": "lines {first}–{last}",
    "whole": "the whole document",
    # words
    "viewer": "viewer",
    "editor": "editor",
    "owner": "owner",
    "folder": "folder",
    "file": "file",
    "and": ", ",
    "the_trash": "the trash",
    "this_document": "this document",
    # what a call was about
    "do_create_folder": "create the folder {name}",
    "do_create_file": "create {name}",
    "do_rename_item": "rename {name}",
    "do_move_item": "move {name}",
    "do_share_item": "share {name} with {email}",
    "do_revoke_share": "take back the access of {email} to {name}",
    "do_trash_item": "delete {name}",
    "do_restore_item": "restore {name}",
    "do_patch_file": "change the text of {name}",
    "do_write_file": "write {name}",
    "do_restore_version": "bring back version {version} of {name}",
    "do_undo_changes": "undo",
    "do_many": "{first} and {count} more",
}
