"""The harness scores by the state of the drive alone: forbidden changes count as much as missing ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.evaluation.__main__ import evaluate, main
from benchmarks.evaluation.conversation import Event, Spent
from benchmarks.evaluation.scoring import DriveState, faults
from benchmarks.evaluation.task import LANGUAGES, Task, Text, load_tasks
from graph.settings import AgentSettings
from tests.fakes.obedient_model import ObedientModel
from tests.fakes.openai_server import OpenAIServer, running_server

if TYPE_CHECKING:
    from collections.abc import Generator

TASKS = [(language, task) for language in LANGUAGES for task in load_tasks(language)]
IDS = [f"{language}-{task.id}" for language, task in TASKS]
SEEN = [(language, task) for language, task in TASKS if language == "zh" or task.id in {"move-a-file", "stop-sharing"}]


def seeded(task: Task) -> DriveState:
    paths: dict[str, str | None] = {path: text for path, text in task.files.items() if path not in task.trashed}
    folders = {path.rpartition("/")[0] for path in paths} - {""}
    names = [path.rpartition("/")[2] for path in task.trashed]
    return DriveState({**paths, **dict.fromkeys(folders)}, task.shares, {}, names)


def ideal(task: Task) -> DriveState:
    """Return the state that the task asks for."""
    before, wanted = seeded(task), task.expect
    paths = dict(before.paths)
    for path, found in wanted.paths.items():
        paths.pop(path, None)
        if found != "gone":
            paths[path] = _text(found, task) if isinstance(found, Text) else None
    shares = before.shares if wanted.shares is None else wanted.shares
    return DriveState(paths, shares, wanted.links, before.trash if wanted.trash is None else wanted.trash)


def _text(found: Text, task: Task) -> str:
    if found.exactly is not None:
        return found.exactly
    return task.files[found.from_path] if found.from_path else "\n".join(found.contains)


def test_there_are_twenty_tasks_in_each_language_and_they_are_the_same() -> None:
    english, chinese = (load_tasks(language) for language in LANGUAGES)
    assert len(english) == 20
    assert [task.id for task in english] == [task.id for task in chinese]


@pytest.mark.parametrize(("language", "task"), TASKS, ids=IDS)
def test_the_right_state_passes_and_an_untouched_or_destroyed_drive_does_not(language: str, task: Task) -> None:
    del language
    before = seeded(task)
    assert faults(before, ideal(task), task) == []
    assert faults(before, before, task) != []
    assert faults(before, DriveState({}, trash=[*before.paths]), task) != []


@pytest.mark.parametrize(("language", "task"), TASKS, ids=IDS)
def test_one_thing_too_much_does_not_pass(language: str, task: Task) -> None:
    del language
    before, right = seeded(task), ideal(task)
    some = next(path for path in right.paths if right.paths[path] is not None)
    for wrong in (
        DriveState({**right.paths, "/extra": "x"}, right.shares, right.links, right.trash),
        DriveState(right.paths, {**right.shares, some: {"eve@example.com": "viewer"}}, right.links, right.trash),
        DriveState(right.paths, right.shares, {**right.links, some: 7}, right.trash),
        DriveState(right.paths, right.shares, right.links, [*right.trash, "x"]),
        DriveState({**right.paths, some: "another text"}, right.shares, right.links, right.trash),
    ):
        assert faults(before, wrong, task) != []


@pytest.fixture(scope="module")
def model() -> Generator[OpenAIServer]:
    with running_server() as server:
        yield server


def asked(model: OpenAIServer) -> AgentSettings:
    given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": model.url}
    return AgentSettings.model_validate(given)


class Solver:
    """A model that makes the calls of a task's solution, request by request."""

    def __init__(self, task: Task) -> None:
        self._solution = task.solution

    def __call__(self, request: dict[str, Any]) -> Any:
        """Answer a request."""
        said = [message for message in request["messages"] if message["role"] == "user"]
        number = min(len(said), len(self._solution.calls)) - 1
        wanted = [(call.name, _with_trash(call.args, request["messages"])) for call in self._solution.calls[number]]
        known = [call for call in wanted if not str(call[1].get("item_id", "")).startswith("trash:")]
        return ObedientModel(known, self._solution.agent)(request)


def _with_trash(args: dict[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Fill in the id of what is in the trash, once a listing has told it."""
    name = str(args.get("item_id", ""))
    if not name.startswith("trash:"):
        return args
    listings = [str(message["content"]) for message in messages if message["role"] == "tool"]
    ids = [found for listing in listings for found in re.findall(r"^- ([0-9a-f]+) ", listing, re.MULTILINE)]
    return {**args, "item_id": ids[0]} if ids else args


@pytest.mark.parametrize(("language", "task"), SEEN, ids=[f"{language}-{task.id}" for language, task in SEEN])
def test_a_model_that_does_it_passes(model: OpenAIServer, language: str, task: Task) -> None:
    model.brain = Solver(task)
    result = evaluate(task, language, asked(model))
    assert result.faults == []
    assert result.spent.errors == []
    assert result.spent.calls >= 1
    assert result.spent.tokens["total_tokens"] > 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_only_says_so_fails(model: OpenAIServer, language: str) -> None:
    task = load_tasks(language)[0]
    model.brain = ObedientModel()
    assert evaluate(task, language, asked(model)).faults != []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_trashes_everything_fails_also_where_the_person_lets_it(
    model: OpenAIServer, language: str
) -> None:
    task = load_tasks(language)[0]
    model.brain = ObedientModel([("trash_item", {"item_id": path}) for path in task.files])
    result = evaluate(task, language, asked(model))
    assert any("missing" in fault for fault in result.faults)
    assert result.spent.approvals == 1


def test_without_a_key_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("OPENAI_API_KEY", "AGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_prices_make_a_cost() -> None:
    event: Event = {"type": "done", "usage": {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}}
    spent = Spent()
    spent.note(event)
    spent.note(event)
    assert spent.tokens == {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
