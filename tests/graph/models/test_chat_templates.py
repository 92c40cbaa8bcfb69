"""Real chat templates render every request of a conversation: nothing is refused, and no word of it is lost."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jinja2 import TemplateError

from benchmarks.fixtures.recording import recorded_drive
from graph.errors import AgentError
from graph.model_factory import build_models
from graph.models.asking import ask
from graph.models.client.requests import request_body
from graph.models.dialects import Dialect
from graph.models.roles import alternating
from graph.settings import AgentSettings
from tests.chat_templates import compiled, prompt_of
from tests.fakes.openai_server import Failure, OpenAIServer, Reply, text
from tests.graph.models.test_providers import turn
from tests.graph.models.test_roles import AFTER_A_FAILED_TURN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Template

    from benchmarks.fixtures.recording import RecordedDrive, Request
    from graph.model_factory import Clients

FOLDER = Path(__file__).parent / "chat_templates"
TEMPLATES = {path.stem: path for path in sorted(FOLDER.glob("*.jinja"))}
LONG = "All is well. " * 900


@pytest.fixture(scope="module", params=["full", "small"])
def requests(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Request]:
    """Return the requests of conversations of all kinds, as a service gets them."""
    return asyncio.run(_recorded(tmp_path_factory.mktemp("drive"), request.param))


async def _recorded(directory: Path, profile: str) -> list[Request]:
    settings = AgentSettings.model_validate({"model": "recorded", "model_profile": profile})
    async with recorded_drive(directory, settings=settings) as recorded:
        lease = await recorded.put("/Lease.md", "The rent is 900 euros.")
        budget = await recorded.put("/HR/Budget.csv", "item,amount\nrent,900\n")
        await _ask_each(recorded, lease, budget)
        await _fail(recorded)
        for number in range(8):
            await recorded.say("long", f"search my files for {number}. " + LONG, LONG)
    return recorded.model.requests


async def _ask_each(recorded: RecordedDrive, lease: str, budget: str) -> None:
    """Have a turn of each specialist, one with a hand-over, one with a plan, one that is routed by a model."""
    searched = ("search_files", {"query": "rent"})
    await recorded.say("search", "search my files for the rent", searched, ("read_file", {"file_id": "/Lease.md"}))
    await recorded.say("search", "create a folder called Dues", ("create_folder", {"name": "Dues"}), "")
    await recorded.say("search", "summarise this document", "It is a lease.", file_id=lease)
    both = [{"file_id": lease}, {"file_id": budget}]
    await recorded.say("attached", "compare these two", "One has more.", attachments=both)
    handed = ("transfer_to_agent", {"agent": "drive_agent", "reason": "It is a change."})
    await recorded.say("handed", "search my files for the rent", handed, ("rename_item", {"item_id": lease}), "Done.")
    recorded.model.steps = [("drive_agent", "Create the folder Taxes"), ("drive_agent", "Move Lease.md to Taxes")]
    await recorded.say("plan", "create a folder Taxes, move Lease.md there and share it with bob@example.com")
    await recorded.say("route", "hmm, and what of the other thing then")


async def _fail(recorded: RecordedDrive) -> None:
    """Have a first turn fail, and a later one in the middle of its calls, and go on in both conversations."""
    listed = ("list_folder", {"folder_id": "root"})
    for thread, script in (("failed", ["", ""]), ("search", [listed, ValueError("no answer")])):
        with pytest.raises(AgentError):
            await recorded.say(thread, "list my files", *script)
        await recorded.say(thread, "list my files, please", listed, "There are three.")
        await recorded.say(thread, "thank you")


@pytest.mark.parametrize("family", TEMPLATES)
def test_no_request_is_refused_and_no_word_of_it_is_lost(family: str, requests: list[Request]) -> None:
    source = TEMPLATES[family].read_text(encoding="utf-8")
    template = compiled(source)
    for request in requests:
        prompt = accepted_prompt(template, request)
        missing = [one for one in _words_of(request, source) if one not in prompt]
        assert missing == []


def accepted_prompt(template: Template, request: Request) -> str:
    """Return the prompt that the template makes of a request, in the dialect that its refusals teach."""
    dialect = Dialect()
    while True:
        body = dialect.adapt(copy.deepcopy(request))
        try:
            return prompt_of(template, body)
        except (TemplateError, TypeError) as refusal:
            if not dialect.learn_from(f"400 : {refusal}", body):
                raise


def _words_of(request: Request, source: str) -> Iterator[str]:
    """Yield what a model has to see: the beginning of the system's text, the end of each message, calls, tools.

    Some templates show no calls, and some no tools.
    """
    system, *messages = request["messages"]
    yield system["content"][:60]
    yield from (str(message["content"]).strip()[-30:] for message in messages if message["role"] == "user")
    results = [re.findall(r"[A-Za-z]+", str(message["content"])) for message in messages if message["role"] == "tool"]
    yield from (word for words in results for word in words[:1])
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    yield from (call["function"]["name"] for call in calls if "tool_calls" in source)
    yield from (tool["function"]["name"] for tool in request.get("tools") or () if "tools" in source)


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("family", TEMPLATES)
async def test_a_server_that_passes_a_request_to_its_template_as_it_is_gets_one_that_it_takes(
    server: OpenAIServer, clients: Clients, monkeypatch: pytest.MonkeyPatch, family: str, status: int
) -> None:
    template = compiled(TEMPLATES[family].read_text(encoding="utf-8"))

    def brain(request: Request) -> Reply:
        try:
            prompt = prompt_of(template, request)
        except (TemplateError, TypeError) as refusal:
            return Failure(status, f"Error in the chat template: {refusal}")
        assert "None" not in prompt or family in PRINTS_NONE
        return text("Done.")

    monkeypatch.setattr(server, "brain", brain)
    settings = AgentSettings.model_validate({"model": "m", "openai_base_url": server.url, "model_retries": 0})
    assert (await ask(build_models(settings, clients)["agent"], turn())).text == "Done."


PRINTS_NONE = frozenset({"glm-4.5", "smollm3"})
"""Their servers put an empty text in place of `null`."""


def test_what_the_linter_of_requests_calls_broken_is_refused_by_a_real_template() -> None:
    template = compiled(TEMPLATES["mistral-small-3.2"].read_text(encoding="utf-8"))
    broken = request_body("m", AFTER_A_FAILED_TURN, {})
    with pytest.raises(TemplateError, match="roles must alternate"):
        prompt_of(template, broken)
    assert "Once more." in prompt_of(template, request_body("m", alternating(AFTER_A_FAILED_TURN), {}))


def test_each_template_has_its_source_and_its_license() -> None:
    rows = (FOLDER / "SOURCES.md").read_text(encoding="utf-8")
    assert {f"`{path.name}`" in rows for path in TEMPLATES.values()} == {True}


def test_a_template_that_wants_the_name_of_a_result_gets_it() -> None:
    wants_names = "{% for m in messages %}{% if m.role == 'tool' %}{% if not m.name %}{{ raise_exception("
    wants_names += "\"Invalid tool response: 'name' must be provided.\") }}{% endif %}{{ m.name }}:{% endif %}"
    template = compiled(wants_names + "{{ m.content or '' }}\n{% endfor %}")
    call = {"id": "c1", "type": "function", "function": {"name": "list_folder", "arguments": json.dumps({})}}
    messages = [
        {"role": "user", "content": "list"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "2 items", "tool_call_id": "c1"},
    ]
    assert "list_folder:2 items" in accepted_prompt(template, {"messages": messages})
