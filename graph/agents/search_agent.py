"""The Search agent: finds documents and answers from their texts. It changes no file."""

from typing import Final

from graph.agents.specialist import Specialist
from graph.agents.surroundings import read_folder_surroundings
from graph.prompts import load_prompt

SEARCH_AGENT: Final = Specialist(
    name="search_agent",
    role=load_prompt("agents/search_agent"),
    tools=frozenset(
        {
            "semantic_search_files",
            "search_files",
            "find_related_files",
            "get_index_status",
            "reindex",
            "map_reduce_files",
            "read_bulk_result",
            "query_table",
            "read_file",
            "list_folder",
            "get_folder_tree",
            "get_file_info",
            "list_versions",
            "diff_versions",
            "compare_files",
            "list_shared_with_me",
            "list_changes",
            "whoami",
        }
    ),
    small_prompt=load_prompt("agents/small_search_agent"),
    small_tools=(
        "semantic_search_files",
        "search_files",
        "read_file",
        "list_folder",
        "transfer_to_agent",
    ),
    read_surroundings=read_folder_surroundings,
)
