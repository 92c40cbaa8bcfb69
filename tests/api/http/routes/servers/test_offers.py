"""Resources and prompts of a server that others wrote; a prompt is shown first, and then sent as a message."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import pytest

from api.cli import main
from graph.settings import AgentSettings
from tests.api.command_model import CommandModel
from tests.api.real_service import RealService
from tests.graph.servers.real import EVERYTHING, allowed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.person import Person

SERVERS = "/api/mcp-servers"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealService]:
    agent = AgentSettings(model="offline", stdio_commands=allowed(EVERYTHING))
    service = RealService(tmp_path_factory.mktemp("offers"), CommandModel(), agent=agent).start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def owner(running: RealService) -> Iterator[Person]:
    person = running.owner()
    yield person
    person.close()


@pytest.fixture(scope="module")
def path(owner: Person) -> str:
    """The path of the server."""
    body = {"name": "Everything", "command": EVERYTHING[0], "args": EVERYTHING[1:]}
    return f"{SERVERS}/{owner.http.post(SERVERS, json=body).json()['id']}"


def test_resources_and_prompts_are_listed(owner: Person, path: str) -> None:
    resources = owner.get(f"{path}/resources")["items"]
    prompts = {prompt["name"]: prompt for prompt in owner.get(f"{path}/prompts")["items"]}
    assert resources
    assert resources[0].keys() == {"uri", "name", "description"}
    assert (prompts["args-prompt"]["arguments"], prompts["args-prompt"]["required"]) == (["city", "state"], ["city"])


def test_a_prompt_is_returned_with_its_arguments_in_place(owner: Person, path: str) -> None:
    filled = owner.http.post(f"{path}/prompts", json={"name": "args-prompt", "arguments": {"city": "Oslo"}}).json()
    assert filled["messages"] == [{"role": "user", "text": filled["text"]}]
    assert "Oslo" in filled["text"]


def test_a_prompt_that_is_not_there_or_lacks_an_argument_says_so(owner: Person, path: str) -> None:
    for body in ({"name": "no-such"}, {"name": "args-prompt"}):
        refused = owner.http.post(f"{path}/prompts", json=body)
        assert refused.status_code == 503
        assert "refused the request" in refused.json()["detail"]


def test_the_offers_of_somebody_elses_server_are_not_found(owner: Person, path: str) -> None:
    other = owner.add_new("bob")
    answers = [
        other.http.get(f"{path}/resources"),
        other.http.get(f"{path}/prompts"),
        other.http.post(f"{path}/prompts", json={"name": "simple-prompt"}),
    ]
    assert [answer.status_code for answer in answers] == [404] * 3
    other.close()


def test_a_prompt_is_sent_from_the_chat_once_the_person_has_read_it(
    owner: Person,
    running: RealService,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DRIVE_AGENT_URL", running.url)
    monkeypatch.setenv("DRIVE_AGENT_TOKEN", owner.token)

    def talk(*lines: str) -> str:
        monkeypatch.setattr("sys.stdin", StringIO("\n".join([*lines, ""])))
        main(["chat"])
        return "".join(capsys.readouterr())

    assert path
    line = "/prompt Everything args-prompt city=Oslo"
    assert "args-prompt city= state=" in talk("/prompt Everything")
    declined, sent = talk(line, "n"), talk(line, "y")
    assert "Oslo" in declined
    assert "You said" not in declined
    assert "Oslo" in sent.partition("You said")[2]
    # A server must not choose what of the drive goes with the message: this would fail if it were looked up.
    assert "@/Nowhere" in talk("/prompt Everything args-prompt city=@/Nowhere", "y").partition("You said")[2]
    assert "There is no MCP server of the name Nobody" in talk("/prompt Nobody simple-prompt")
