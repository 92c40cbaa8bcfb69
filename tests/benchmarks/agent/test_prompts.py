"""The size of requests: the aims hold, and the beginning of a request is the same for everybody."""

from pathlib import Path

import pytest

from benchmarks.agent.prompts import (
    ACTS_AIM,
    ACTS_REUSE_AIM,
    AIMS,
    RESULT_AIMS,
    REUSE_AIMS,
    cost_of,
    kind_of,
    main,
    measure,
)
from benchmarks.fixtures.tokens import by_rules


async def test_requests_and_results_stay_within_their_aims(tmp_path: Path) -> None:
    found = await measure(tmp_path)
    assert {kind: found.requests[kind].whole <= aim for kind, aim in AIMS.items()} == dict.fromkeys(AIMS, True)
    assert {name: found.results[name][1] <= aim for name, aim in RESULT_AIMS.items()} == dict.fromkeys(
        RESULT_AIMS, True
    )
    for structured, shown in found.results.values():
        assert shown * 3 < structured
    assert found.results["list_changes, 50"][1] < 50 * 45
    for kind in AIMS:
        assert found.requests[kind].static > found.requests[kind].whole * 0.7

    missed = {name: shares for name, shares in found.reused.items() if min(shares.values()) < REUSE_AIMS[name]}
    assert set(missed) <= {"the same, a document"}


async def test_three_small_acts_take_few_tokens_most_of_them_served_from_a_cache(tmp_path: Path) -> None:
    acts = (await measure(tmp_path)).acts
    assert acts.requests == 6
    assert acts.tokens <= ACTS_AIM
    assert min(acts.reused.values()) >= ACTS_REUSE_AIM


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    printed = capsys.readouterr().out
    assert all(kind in printed for kind in AIMS)
    assert "list_changes, 50" in printed


def test_a_request_is_told_by_its_tools_or_its_prompt() -> None:
    tool = {"type": "function", "function": {"name": "TaskPlan"}}
    assert kind_of({"tools": [tool], "messages": []}) == "plan"
    turns = [f"<role>\nYou are now the {name} agent: it works.\n</role>\n\ndo it" for name in ("Search", "Drive")]
    request = {
        "messages": [{"role": "system", "content": "You work."}, *({"role": "user", "content": one} for one in turns)]
    }
    assert kind_of(request) == "drive_agent"
    assert cost_of(request).static < cost_of(request).whole


def test_the_rules_count_as_the_vocabulary_does() -> None:
    assert by_rules("The lease ends in March.") == 6
    assert by_rules("合同将于三月到期。") in {6, 7}
    assert by_rules('{"item_id":"x"}') == 6
