"""The Document agent: reads and edits the content of a document."""

from typing import Final

from graph.agents.specialist import Specialist
from graph.agents.surroundings import read_document_surroundings
from graph.prompts import load_prompt

DOCUMENT_AGENT: Final = Specialist(
    name="document_agent",
    role=load_prompt("agents/document_agent"),
    tools=frozenset(
        {
            "query_table",
            "list_folder",
            "read_file",
            "patch_file",
            "write_file",
            "append_to_file",
            "fill_template",
            "diff_versions",
            "compare_files",
            "get_download_url",
            "list_versions",
            "restore_version",
            "get_file_info",
            "search_files",
            "semantic_search_files",
        }
    ),
    small_prompt=load_prompt("agents/small_document_agent"),
    small_tools=(
        "read_file",
        "patch_file",
        "append_to_file",
        "write_file",
        "search_files",
        "query_table",
        "transfer_to_agent",
    ),
    read_surroundings=read_document_surroundings,
)
