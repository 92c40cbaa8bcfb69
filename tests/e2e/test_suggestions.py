"""Run every suggestion of the page on the built-in model, in English and Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson
import pytest

from api.page.files import FOLDER

if TYPE_CHECKING:
    from tests.e2e.person import Person

SUGGESTION: Final = "chat.suggest."
FILES: Final = {
    "summarise": ("plan.md", "We ship on Friday."),
    "table": ("costs.csv", "name,amount\nrent,100\nfood,50\n"),
}
USES: Final = {
    "summarise": "read_file",
    "table": "query_table",
    "tidy": "list_folder",
    "find": "search_files",
    "changes": "list_changes",
    "write": "create_file",
    "folders": "create_folder",
}
"""The tool that each takes; none for the question what can be done."""


def suggestions() -> list[tuple[str, str]]:
    """Return each suggestion of the page: its name and its words."""
    found: list[tuple[str, str]] = []
    for language in ("en", "zh"):
        texts = orjson.loads((FOLDER / f"chat/texts/{language}.json").read_bytes())
        found += [(key.removeprefix(SUGGESTION), text) for key, text in texts.items() if key.startswith(SUGGESTION)]
    return found


@pytest.mark.parametrize(("name", "words"), suggestions())
def test_what_is_suggested_is_done(alice: Person, name: str, words: str) -> None:
    file, content = FILES.get(name, ("notes.txt", "Notes."))
    alice.upload(file, content)
    with alice.chat(words.replace("{name}", file)) as turn:
        turn.finish()
    tools = turn.tools
    assert all(status == "done" for _, status in tools), tools
    if name in USES:
        assert USES[name] in {tool for tool, _ in tools}, (tools, turn.text)
    else:
        assert not tools
    assert turn.text
    assert "{" not in turn.text
    if name == "folders":
        assert len([item for item in alice.children() if item["kind"] == "folder"]) == 3
