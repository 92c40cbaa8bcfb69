"""LangGraph's clients for JavaScript, unchanged: the SDK, its hook for React, and the hook of @langchain/react."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.api.fakes import Gate
from tests.api.langgraph.talking import HoldingModel
from tests.node.story import tell
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person

STORIES: Final = Path(__file__).parent / "node"
HOOKS: Final = STORIES / "hooks.mjs"
LENT: Final = "Done: "
DECISIONS: Final = ("reject", "edit", "approve")


@pytest.fixture(scope="module")
def command_model() -> HoldingModel:
    return HoldingModel(gate=Gate())


@pytest.fixture
def model(command_model: HoldingModel) -> Iterator[HoldingModel]:
    yield command_model
    command_model.release()


def told(owner: Person, model: HoldingModel, *names: str) -> dict[str, Any]:
    """Return what a story tells that begins with three files."""
    empty(owner)
    file, *_ = [owner.upload(name, "x") for name in ("a.txt", "b.txt", "stays.txt")]
    parts = [STORIES / f"{name}.mjs" for name in names]
    deeds = {"hold": model.hold, "release": model.release}
    return tell(parts, str(owner.http.base_url).rstrip("/"), owner.token, file["id"], deeds=deeds)


def test_the_sdk_speaks_both_protocols(owner: Person, model: HoldingModel) -> None:
    story = told(owner, model, "sdk")
    assert story["words"] == "You said hello there"
    assert story["events"] == ["custom", "messages", "metadata", "updates", "values"]
    assert story["found"] == [True]
    assert (story["asked"], story["status"], story["foreign"]) == ("create_share_link", "interrupted", 422)
    assert story["done"].startswith(LENT)
    assert story["heard"] == "You said hear the held rest"
    assert story["stopped"] == "interrupted"
    assert story["streamed"] == ["You said by commands"]
    assert story["output"] == "You said by commands"


def test_the_hook_of_the_sdk_shows_a_chat(owner: Person, model: HoldingModel) -> None:
    story = told(owner, model, "hooks", "use_stream")
    assert story["branches"] == [2, 1]
    assert story["branch"] == [["human", "one"], ["ai", "You said one"]]
    assert [words for _, words in story["anew"]] == ["uno", "You said uno", "two", "You said two"]
    assert story["earlier"] == [["human", "first"], ["ai", "You said first"]]
    assert [story[f"asks again to {one}"] for one in DECISIONS] == ["trash_item", "create_share_link", "trash_item"]
    assert story["reject"].endswith("They say: I need it")
    assert story["edit"].startswith(LENT)
    assert story["approve"].startswith("Done: Moved to the trash: /b.txt")
    assert owner.names() == ["a.txt", "stays.txt"]
    assert story["joined"][1].strip() == "You said hear the"
    assert story["ends"] == [["ai", "You said hear the held rest"]] * 2
    before = ["stop at the held rest", "You said stop at the", "and on"]
    assert [words.strip() for _, words in story["stopped"]][:3] == before
    assert story["error"] == "undefined"
    assert story["doubled"] == []


def test_the_look_for_doubled_answers_sees_those_of_a_server_whose_pieces_come_late(
    owner: Person, model: HoldingModel
) -> None:
    doubled = told(owner, model, "hooks", "mutated")["doubled"]
    assert [kind for kind, _ in doubled] == ["human", "ai", "ai"]


def test_the_hook_of_the_second_protocol_shows_chats(owner: Person, model: HoldingModel) -> None:
    story = told(owner, model, "hooks", "react")
    assert [words for _, words in story["edited"]] == ["one", "You said one", "deux", "You said deux"]
    assert story["earlier"] == [["human", "first"], ["ai", "You said first"]]
    assert [story[f"asks again to {one}"] for one in DECISIONS] == [True] * 3
    assert story["reject"][0].endswith("They say: I need it")
    assert story["edit"][0].startswith(LENT)
    assert story["approve"][0].startswith("Done: Moved to the trash: /b.txt")
    assert [story[one][1:] for one in ("edit", "approve")] == [[0, ["finished"]]] * 2
    assert story["moved"] == [0, "undefined"]
    assert owner.names() == ["a.txt", "stays.txt"]
    assert story["joined"][1].strip() == "You said hear the"
    assert story["ends"] == [["ai", "You said hear the held rest"]] * 2
    assert (story["stopped"][0].strip(), story["stopped"][1]) == ("You said stop at the", "undefined")
