"""Names of outside tools: readable where possible, always unique, always leading back."""

import re

from hypothesis import given
from hypothesis import strategies as st

from graph.servers.names import MAX_CHARACTERS, ToolName, is_outside, name_of, name_table

tools = st.tuples(st.text(max_size=40), st.builds(ToolName, st.text(min_size=1, max_size=8), st.text(max_size=80)))


def test_a_name_shows_server_and_tool() -> None:
    assert name_of("my-notes", ToolName("1", "read.file")) == "mcp__my_notes__read_file"


def test_a_long_name_is_cut_and_ends_in_a_digest() -> None:
    first, second = (name_of("notes", ToolName("1", f"{'a' * 80}{end}")) for end in "xy")

    assert len(first) == len(second) == MAX_CHARACTERS
    assert first != second


def test_two_servers_of_one_name_do_not_shadow_each_other() -> None:
    one, two = ToolName("1", "search"), ToolName("2", "search")

    table = name_table([("notes", one), ("notes", two)])

    assert sorted(table.values()) == [one, two]
    assert table == name_table([("notes", two), ("notes", one)])
    assert all(name.startswith("mcp__notes__search_") for name in table)


def test_a_tool_named_like_another_one_with_its_digest_does_not_take_its_place() -> None:
    one, two = ToolName("1", "search"), ToolName("2", "search")
    imitation = ToolName("3", name_of("notes", one, exact=True).removeprefix("mcp__notes__"))

    table = name_table([("notes", imitation), ("notes", one), ("notes", two)])

    assert sorted(table.values()) == [one, two, imitation]


@given(st.lists(tools, max_size=8, unique_by=lambda pair: pair[1]))
def test_every_tool_has_a_name_of_its_own_that_any_model_takes(pairs: list[tuple[str, ToolName]]) -> None:
    table = name_table(pairs)

    assert sorted(table.values()) == sorted(tool for _, tool in pairs)
    for name in table:
        assert re.fullmatch(r"[A-Za-z0-9_]{1,63}", name)
        assert is_outside(name)
