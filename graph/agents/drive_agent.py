"""The Drive agent: organises the drive, and can't edit the content of a file."""

from typing import Final

from graph.agents.specialist import Specialist
from graph.agents.surroundings import read_folder_surroundings
from graph.prompts import load_prompt

DRIVE_AGENT: Final = Specialist(
    name="drive_agent",
    role=load_prompt("agents/drive_agent"),
    tools=frozenset(
        {
            "list_folder",
            "get_folder_tree",
            "get_file_info",
            "create_folder",
            "create_file",
            "fill_template",
            "read_file",
            "rename_item",
            "move_item",
            "move_items",
            "rename_items",
            "organize_items",
            "copy_item",
            "trash_item",
            "list_trash",
            "restore_item",
            "delete_item",
            "empty_trash",
            "list_versions",
            "search_files",
            "semantic_search_files",
            "share_item",
            "create_share_link",
            "get_download_url",
            "update_share",
            "list_shared_with_me",
            "diff_versions",
            "list_shares",
            "revoke_share",
            "undo_changes",
            "redo_changes",
            "list_changes",
            "whoami",
        }
    ),
    small_prompt=load_prompt("agents/small_drive_agent"),
    small_tools=(
        "create_folder",
        "create_file",
        "move_item",
        "rename_item",
        "trash_item",
        "share_item",
        "list_folder",
        "search_files",
    ),
    read_surroundings=read_folder_surroundings,
    knows_last_run=True,
)
