from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.evaluation.__main__ import settings_of
from benchmarks.evaluation.clock import FixedClock
from benchmarks.evaluation.own_servers import own_servers
from benchmarks.fixtures.serving import serving
from graph.settings import AgentSettings
from tests.benchmarks.evaluation.shared_drives import SharedDrives
from tests.fakes.openai_server import OpenAIServer, running_server

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.fixture(scope="module")
def model() -> Generator[OpenAIServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def drives(model: OpenAIServer) -> Generator[SharedDrives]:
    """One service for a module, on the day of the evaluation."""
    given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": model.url}
    settings = settings_of(AgentSettings.model_validate(given))
    with (
        serving(settings, FixedClock()) as owner,
        own_servers() as servers,
        SharedDrives(owner, servers, model, settings) as shared,
    ):
        yield shared
