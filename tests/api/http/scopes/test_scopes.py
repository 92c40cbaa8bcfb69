"""Every route of the composed application stands in a table, and is tried with keys that lack a scope."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.api.command_model import CommandModel, command
from tests.api.http.scopes.table import NEEDED, TALKS, known_routes, routes_of
from tests.api.http.scopes.world import World, make_world
from tests.api.real_service import real_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person

SCOPES = ("read", "write", "share", "delete")
FORBIDDEN = 403


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield make_world(tmp_path_factory.mktemp("scopes"), stack)


def lacks_scope(world: World, person: Person, route: str) -> bool:
    method, body = route.split(" ")[0], world.body_of(route)
    with person.http.stream(method, world.path_of(route), json=body, params=world.params_of(route)) as answer:
        is_refused = answer.status_code == FORBIDDEN
        if is_refused:
            answer.read()
        return is_refused and answer.json()["code"] == "missing_scope"


def test_every_route_stands_in_a_table(tmp_path: Path) -> None:
    assert routes_of(real_app(tmp_path, CommandModel())) == known_routes()


def test_each_route_refuses_a_key_without_the_scopes_that_the_table_says(made: World) -> None:
    found = dict.fromkeys(NEEDED, "")
    for scope in SCOPES:
        person = made.owner.with_key(f"no {scope}", *(one for one in SCOPES if one != scope))
        before = made.state()
        for route in NEEDED:
            if scope[0] in NEEDED[route] and lacks_scope(made, person, route):
                found[route] += scope[0]
        assert made.state() == before, f"changed without {scope}"
        person.close()
    assert found == NEEDED


def test_a_reading_key_changes_nothing(made: World) -> None:
    reader = made.owner.with_key("only reads", "read")
    before = made.state()
    sent = [route for route in NEEDED if not route.startswith("GET ") and route not in TALKS]
    answers = {route: lacks_scope(made, reader, route) for route in sent}
    assert [route for route, is_refused in answers.items() if not is_refused] == []
    assert made.state() == before
    reader.close()


@pytest.mark.parametrize("tool", ["remember", "forget"])
def test_a_run_of_a_reading_key_changes_no_memory(made: World, tool: str) -> None:
    reader = made.owner.with_key("talks", "read")
    before = made.owner.get("/api/memories")
    said = {"fact": "I like jam."} if tool == "remember" else {"memory_id": made.ids["memory_id"]}
    with reader.chat(f"remember that I like jam. forget that I like tea.\n{command(tool, **said)}") as turn:
        turn.until("done", "error", "approval_needed")
    assert made.owner.get("/api/memories") == before
    assert "missing_scope" in str(turn.of("tool_call_end"))
    reader.close()
