"""Which scope a tool or a method of the protocol needs in every case.

The services ask for scopes themselves, and their word counts. This is for the transport, which can tell a host that it
lacks one before the call has begun.
"""

from typing import Any, Final

from drive_server.access import Scope

NONE_NEEDED: Final = frozenset({"authenticate", "whoami"})
TOOLS: Final = {
    "list_folder": Scope.READ,
    "get_folder_tree": Scope.READ,
    "get_file_info": Scope.READ,
    "create_folder": Scope.WRITE,
    "rename_item": Scope.WRITE,
    "move_item": Scope.WRITE,
    "move_items": Scope.WRITE,
    "copy_item": Scope.WRITE,
    "trash_item": Scope.DELETE,
    "list_trash": Scope.READ,
    "delete_item": Scope.DELETE,
    "empty_trash": Scope.DELETE,
    "restore_item": Scope.WRITE,
    "create_file": Scope.WRITE,
    "read_file": Scope.READ,
    "write_file": Scope.WRITE,
    "patch_file": Scope.WRITE,
    "list_versions": Scope.READ,
    "restore_version": Scope.WRITE,
    "search_files": Scope.READ,
    "semantic_search_files": Scope.READ,
    "find_related_files": Scope.READ,
    "check_citations": Scope.READ,
    "get_index_status": Scope.READ,
    "map_reduce_files": Scope.READ,
    "read_bulk_result": Scope.READ,
    "append_to_file": Scope.WRITE,
    "diff_versions": Scope.READ,
    "get_download_url": Scope.READ,
    "share_item": Scope.SHARE,
    "create_share_link": Scope.SHARE,
    "update_share": Scope.SHARE,
    "list_shared_with_me": Scope.READ,
    "list_shares": Scope.READ,
    "revoke_share": Scope.SHARE,
    "undo_changes": Scope.WRITE,
    "redo_changes": Scope.WRITE,
    "list_changes": Scope.READ,
}
PREVIEWED: Final = frozenset({"undo_changes", "redo_changes"})
"""Tools that only read while the argument `preview` is true."""
METHODS: Final = {"resources/read": Scope.READ, "resources/subscribe": Scope.READ}


def scope_needed(message: Any) -> Scope | None:
    """Return the scope without which this JSON-RPC request fails, None if there is none or it depends."""
    if not isinstance(message, dict):
        return None
    method, params = message.get("method"), message.get("params")
    if method == "tools/call" and isinstance(params, dict) and isinstance(params.get("name"), str):
        return _needed_by(params["name"], params.get("arguments"))
    return METHODS.get(method) if isinstance(method, str) else None


def _needed_by(tool: str, arguments: Any) -> Scope | None:
    is_preview = tool in PREVIEWED and isinstance(arguments, dict) and arguments.get("preview", False) is not False
    return Scope.READ if is_preview else TOOLS.get(tool)
