"""The lists of Claude Desktop, Cursor and VS Code in our fields."""

from typing import Any

import pytest

from api.errors import InvalidRequestError
from api.servers.importing import fill_placeholders, placeholders, read_servers

CLAUDE: dict[str, Any] = {
    "mcpServers": {"files": {"command": "npx", "args": ["-y", "server-filesystem", "/srv"], "env": {"TOKEN": "t0p"}}}
}
CURSOR: dict[str, Any] = {
    "mcpServers": {
        "docs": {"url": "https://docs.example.com/mcp", "headers": {"Authorization": "Bearer ${env:DOCS}"}},
        "off": {"url": "https://off.example.com/sse", "disabled": True},
    }
}
VSCODE: dict[str, Any] = {
    "inputs": [{"id": "key", "type": "promptString", "password": True}],
    "servers": {
        "tickets": {"type": "http", "url": "https://t.example.com/", "headers": {"X-Key": "${input:key}"}},
        "here": {"type": "stdio", "command": "uvx", "args": ["${workspaceFolder}"]},
    },
}


def test_a_list_of_claude_desktop() -> None:
    (files,) = read_servers(CLAUDE)
    assert files.fields == {
        "name": "files",
        "command": "npx",
        "args": ["-y", "server-filesystem", "/srv"],
        "env": {"TOKEN": "t0p"},
    }
    assert files.missing == []


def test_a_list_of_cursor_with_a_value_from_the_environment() -> None:
    docs, off = read_servers(CURSOR)
    assert docs.fields["headers"] == {"Authorization": None}
    assert docs.missing == ["Authorization"]
    assert off.fields["is_active"] is False
    assert placeholders(CURSOR) == {"DOCS"}
    docs, _ = read_servers(fill_placeholders(CURSOR, {"DOCS": "d0cs"}))
    assert docs.fields["headers"] == {"Authorization": "Bearer d0cs"}


@pytest.mark.parametrize("document", [VSCODE, {"mcp": VSCODE}])
def test_a_list_of_vs_code(document: dict[str, Any]) -> None:
    tickets, here = read_servers(document)
    assert tickets.fields["type"] == "streamableHttp"
    assert tickets.missing == ["X-Key"]
    assert here.missing == ["args"]


@pytest.mark.parametrize("document", [{}, {"mcpServers": []}, {"servers": "x"}, {"mcp": 7}])
def test_a_document_without_a_list_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        read_servers(document)


def test_an_entry_that_is_none_is_left_to_the_check_of_its_fields() -> None:
    (odd,) = read_servers({"mcpServers": {"odd": "npx"}})
    assert odd.fields == {"name": "odd"}
