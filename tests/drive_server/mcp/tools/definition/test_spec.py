"""Everything that follows from a tool's record: registration, scopes, consent, `_meta`, the assistant's policy."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import pytest
from mcp.types import CallToolResult

from drive_server.drive import Drive
from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.context import META_TOOL
from drive_server.kernel.messages import Message
from drive_server.kernel.texts import Texts
from drive_server.mcp.calls.call import Call, changed
from drive_server.mcp.server import GROUPS
from drive_server.mcp.tiers.more_tools import MoreTools
from drive_server.mcp.tools.definition import spec as module
from drive_server.mcp.tools.definition.arguments import ItemRef
from drive_server.mcp.tools.definition.spec import OVERWRITES, ToolGroup, ToolSpec, records, spec_of
from drive_server.models.changes import Effect, Touch
from drive_server.models.items import Item
from graph.policy.bounds import touched_by
from graph.policy.rules import Situation, judge
from graph.policy.tools import read_facts
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import Host, Person, asking_host_of, host_of, show_whole_tools

SPECS = {spec.name: spec for group in GROUPS for spec in group.specs()}


class MadeUpTools(ToolGroup):
    """A tool that the drive does not have."""

    @records("trash", "trash")
    @ToolSpec(Scope.DELETE, "removal", "low", OVERWRITES, can_be_task=True)
    async def hide_item(self, call: Call, item_id: ItemRef) -> Annotated[CallToolResult, Item]:
        """Hide an item."""
        outcome = await call.agreed(await call.actor(), lambda agreed: self._drive.files.trash(agreed, item_id))
        return changed(await call.actor(), outcome, "Hidden.", outcome.value)


@pytest.fixture
def titles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the made-up tool its titles."""
    for language, title in {"en": "Hide an item", "zh": "隐藏"}.items():
        known = {name: module.TITLES.say(name, language) for name in module.TITLES.codes}
        (tmp_path / f"{language}.json").write_text(json.dumps({**known, "hide_item": title}), "utf-8")
    monkeypatch.setattr(module, "TITLES", Texts(tmp_path))


@pytest.mark.usefixtures("titles")
async def test_a_new_tool_gets_everything_from_its_record(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    drive.server.add_group(MadeUpTools(drive))
    show_whole_tools(drive)
    person = Person("accept")
    async with asking_host_of(drive, alice, person) as host:
        (tool,) = [tool for tool in (await host.session.list_tools()).tools if tool.name == "hide_item"]
        await host.call("hide_item", item_id="/Old")

    assert (tool.title, tool.annotations, tool.execution and tool.execution.taskSupport) == (
        "Hide an item",
        OVERWRITES,
        "optional",
    )
    assert (tool.meta or {})[META_TOOL] == {
        "kind": "removal",
        "risk": "low",
        "asks": "always",
        "scope": "delete",
        "title_zh": "隐藏",
        "can_be_task": True,
    }
    facts = read_facts(tool.name, {}, (tool.meta or {})[META_TOOL])
    assert judge(facts, {}, Situation(language="en")).code == "trashes"
    assert drive.server.scope_needed("tools/call", {"name": "hide_item"}) is Scope.DELETE
    assert "请确认：把“Old”" in person.questions[0]
    assert (await drive.journal.list_changes(alice, tool="hide_item")).items[0].approved_by == "alice@example.com"


async def test_every_tool_of_the_server_has_its_record(drive: Drive, assistant: Host) -> None:
    listed = {tool.name: (tool.meta or {}).get(META_TOOL) for tool in (await assistant.session.list_tools()).tools}

    assert drive.server.specs == SPECS | {"more_tools": spec_of(MoreTools.more_tools)}
    assert listed == {name: spec.meta[META_TOOL] for name, spec in SPECS.items()}


TOUCHES = [
    Touch("a", "a.md", "/Team/a.md", 1, mine=mine, inside=("root",), was_inside=None, others=others, gains=gains)
    for mine, others, gains in ((True, False, False), (True, True, False), (True, True, True), (False, True, False))
]


@pytest.mark.parametrize("touch", [None, *TOUCHES])
@pytest.mark.parametrize("arguments", [{}, {"on_conflict": "replace"}, {"preview": True}, {"preview": "true"}])
def test_both_doors_ask_about_the_same_calls(touch: Touch | None, arguments: dict[str, Any]) -> None:
    """Outside nobody knows what the host's model has read: as in a thread that has read something foreign.

    What the person asked for is the host's to know: inside, they have named it.
    """
    effect = Effect(Message.of("changed_since"), touches=touch and (touch,))
    touched = touched_by({"touches": [asdict(touch)]} if touch else None)
    for spec in SPECS.values():
        facts = read_facts(spec.name, {}, spec.meta[META_TOOL])
        situation = Situation(language="en", tainted=True, touched=touched, said="put a.md into Team")
        inside = judge(facts, {**arguments, "name": "a.md"}, situation).verdict
        asks = spec.asks_for(arguments)
        outside = asks == "always" or (asks == "when_shared" and effect.reaches_others)
        if inside != "deny":
            assert (spec.name, outside) == (spec.name, inside == "ask")
        assert spec.meta[META_TOOL]["asks"] == spec.asks_for({})


def test_signing_in_is_all_that_a_host_may_do_and_the_assistant_never_does() -> None:
    facts = (read_facts(spec.name, {}, spec.meta[META_TOOL]) for spec in SPECS.values())
    assert [tool.name for tool in facts if judge(tool, {}, Situation(language="en")).verdict == "deny"] == [
        "authenticate"
    ]


def test_every_record_has_a_chinese_title_of_its_own() -> None:
    assert SPECS.keys() <= module.TITLES.codes
    titles = [one.title("zh") for one in SPECS.values()]
    assert len(set(titles)) == len(titles)
    assert all(any("\u4e00" <= sign <= "\u9fff" for sign in title) for title in titles)


NEEDED_BESIDES: dict[str, dict[str, Any]] = {
    "update_share": {"email": "a@b.c", "role": "viewer"},
    "revoke_share": {"email": "a@b.c"},
}
"""Arguments of which a call needs one, though its schema leaves that open."""


def smallest(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """Return the plainest value that fits a schema of ours."""
    if "$ref" in schema:
        return smallest(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {name: smallest(schema["properties"][name], definitions) for name in schema.get("required", [])}
        case "array":
            return [smallest(schema["items"], definitions)] * schema.get("minItems", 1)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return "a@b.c" if "mail" in schema.get("title", "").lower() else "root"


@pytest.mark.parametrize("scope", sorted({spec.scope for spec in SPECS.values() if spec.scope}))
async def test_without_its_scope_a_tool_refuses(drive: Drive, alice: Actor, scope: Scope) -> None:
    others = with_scopes(alice, *(other for other in Scope if other != scope))
    schemas = {found.name: found.inputSchema for found in await drive.server.list_tools()}
    async with host_of(drive, others) as host:
        for tool in (name for name, spec in SPECS.items() if spec.scope == scope):
            arguments = smallest(schemas[tool], schemas[tool].get("$defs", {})) | NEEDED_BESIDES.get(tool, {})
            error = await host.refused(tool, **arguments)
            assert (tool, error["code"], error["details"].get("scope")) == (tool, "missing_scope", scope)


async def test_a_call_needs_the_scope_of_its_tool(drive: Drive) -> None:
    assert drive.server.scope_needed("tools/call", {"name": "trash_item"}) == Scope.DELETE
    assert drive.server.scope_needed("resources/read", {"uri": "drive://folders/root"}) == Scope.READ


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", None),
        ("tools/call", {}),
        ("tools/call", {"name": ["trash_item"]}),
        ("tools/call", {"name": "nobody_knows"}),
        ("tools/call", {"name": "whoami"}),
        ("tools/list", {"name": "trash_item"}),
    ],
)
async def test_anything_else_needs_none(drive: Drive, method: str, params: Any) -> None:
    assert drive.server.scope_needed(method, params) is None


@pytest.mark.parametrize("tool", ["undo_changes", "redo_changes"])
@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ({"preview": True}, Scope.READ),
        ({"preview": False}, Scope.WRITE),
        ({}, Scope.WRITE),
        (None, Scope.WRITE),
        ([], Scope.WRITE),
    ],
)
async def test_a_preview_needs_no_more_than_to_read(drive: Drive, tool: str, arguments: Any, needed: Scope) -> None:
    assert drive.server.scope_needed("tools/call", {"name": tool, "arguments": arguments}) == needed
