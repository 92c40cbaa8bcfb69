"""The drive's tools that the assistant calls or completes by itself, beside those that a model calls."""

from typing import Final

FILE_INFO: Final = "get_file_info"
LIST_CHANGES: Final = "list_changes"
LIST_FOLDER: Final = "list_folder"
READ_FILE: Final = "read_file"
SEARCH_NAMES: Final = "search_files"
SEARCH_MEANING: Final = "semantic_search_files"
CHECK_CITATIONS: Final = "check_citations"
UNDO: Final = "undo_changes"
REDO: Final = "redo_changes"
WHOAMI: Final = "whoami"
EDITS: Final = frozenset({"write_file", "patch_file", "append_to_file", "restore_version"})
"""The changes that are the Document agent's; all others are the Drive agent's."""
