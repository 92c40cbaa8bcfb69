"""A step is shown the items that the steps before it found and changed."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.messages.others import mark
from graph.messages.step_items import step_items
from graph.planning.shape import new_step
from graph.prompts import compact
from graph.state import Step


def item(name: str) -> dict[str, Any]:
    return {"id": f"id-{name}", "kind": "file", "name": name, "path": f"/{name}", "etag": "e"}


def result(tool: str, key: str, **data: Any) -> ToolMessage:
    return ToolMessage(f"Done.\n{compact(data)}", name=tool, tool_call_id=key, id=key)


def step(key: str, after: str | None, said: str | None = None) -> Step:
    made = new_step(key, key, "drive_agent", key)
    return {**made, "after": after, "result": said, "attempts": 1 if after else 0}


def paths(messages: Sequence[AnyMessage], *steps: Step) -> list[dict[str, list[str]]]:
    shown = step_items(messages, steps, lambda name: name.startswith(("create", "move")))
    return [{name: [one["path"] for one in items] for name, items in of_step.items()} for of_step in shown]


FOUND = result("search_files", "c1", hits=[{"file": item("a.md"), "text": "x"}, {"file": item("b.md"), "text": "y"}])
MADE = result("create_file", "c2", **item("summary.md"))


def test_each_step_has_its_own_items_and_the_running_one_has_none() -> None:
    messages = [HumanMessage("go", id="m"), FOUND, AIMessage("Both.", id="s1"), MADE, AIMessage("Done.", id="s2")]
    steps = step("1", "m", "Both."), step("2", "s1", "Done."), step("3", "s2")
    assert paths(messages, *steps) == [{"found": ["/a.md", "/b.md"]}, {"changed": ["/summary.md"]}]


def test_of_what_was_found_the_words_of_the_step_choose() -> None:
    messages = [HumanMessage("go", id="m"), FOUND, AIMessage("It is b.md.", id="s1")]
    assert paths(messages, step("1", "m", "It is b.md."), step("2", "s1")) == [{"found": ["/b.md"]}]


def test_what_was_changed_is_not_named_as_found_too_and_a_failed_call_names_nothing() -> None:
    moved = result("move_items", "c3", items=[item("a.md")])
    failed = result("create_file", "c4", **item("no.md")).model_copy(update={"status": "error"})
    messages = [HumanMessage("go", id="m"), FOUND, moved, failed, AIMessage("Moved.", id="s1")]
    assert paths(messages, step("1", "m", "Moved."), step("2", "s1")) == [{"changed": ["/a.md"], "found": ["/b.md"]}]


def test_items_of_other_people_are_left_out() -> None:
    messages = [HumanMessage("go", id="m"), mark(FOUND, ["id-a.md"], ["id-a.md"]), AIMessage("It is a.md.", id="s1")]
    assert paths(messages, step("1", "m", "It is a.md."), step("2", "s1")) == [{}]


def test_a_step_that_was_never_begun_has_none() -> None:
    messages = [HumanMessage("go", id="m"), FOUND, AIMessage("Both.", id="s1")]
    assert paths(messages, step("0", None), step("1", "m", "a.md and b.md"), step("2", "s1")) == [
        {},
        {"found": ["/a.md", "/b.md"]},
    ]
