"""Which models are small, and how little they get."""

from pathlib import Path

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from benchmarks.fixtures.recording import recorded_drive
from benchmarks.fixtures.tokens import count
from graph.agents.document_agent import DOCUMENT_AGENT
from graph.agents.drive_agent import DRIVE_AGENT
from graph.agents.search_agent import SEARCH_AGENT
from graph.models.profile import is_small
from graph.models.serving import UNKNOWN, ServedModel
from graph.prompts import compact
from graph.settings import AgentSettings
from graph.tools.handover import TRANSFER_TO_AGENT
from graph.tools.small import small_tools


@pytest.mark.parametrize(
    ("model", "served", "small"),
    [
        ("qwen2.5:3b", UNKNOWN, True),
        ("ollama:llama3.2:1b", UNKNOWN, True),
        ("gemma-3-270m-it", UNKNOWN, True),
        ("Qwen/Qwen2.5-7B-Instruct", UNKNOWN, True),
        ("qwen3:30b-a3b", UNKNOWN, False),
        ("llama-3.3-70b", UNKNOWN, False),
        ("gpt-4.1-mini", UNKNOWN, False),
        ("claude-opus-5", UNKNOWN, False),
        ("my-model", UNKNOWN, False),
        ("my-model", ServedModel("llama.cpp", 16_384, 1_543_714_304), True),
        ("my-model", ServedModel("llama.cpp", 16_384, 32_000_000_000), False),
        ("my-model", ServedModel("vllm", 4_096), True),
        ("my-model", ServedModel("vllm", 40_960), False),
    ],
)
def test_a_small_model_is_known_by_its_name_or_measured_by_its_server(
    model: str, served: ServedModel, *, small: bool
) -> None:
    assert is_small(AgentSettings(), model, served) is small
    assert is_small(AgentSettings(model_profile="full"), model, served) is False
    assert is_small(AgentSettings(model_profile="small"), model, served) is True


async def test_a_small_model_gets_few_tools_and_few_tokens(tmp_path: Path) -> None:
    async with recorded_drive(tmp_path) as recorded:
        drive_tools = (await recorded.pool.toolbox(recorded.who())).tools
    tools = {**drive_tools, TRANSFER_TO_AGENT.name: TRANSFER_TO_AGENT.as_tool()}
    for specialist in (SEARCH_AGENT, DRIVE_AGENT, DOCUMENT_AGENT):
        offered = small_tools(tools, specialist.small_tools)
        assert [tool.name for tool in offered] == [*specialist.small_tools]
        assert 5 <= len(offered) <= 8
        described = compact([convert_to_openai_tool(tool) for tool in offered])
        assert count(described) + count(specialist.small_prompt) <= 1_800
