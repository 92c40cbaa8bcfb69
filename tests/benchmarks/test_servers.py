"""The benchmark of people's own servers in small: counts, no seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.fixtures.services.mcp_servers import cheap_servers
from benchmarks.servers import KINDS, NOTE, measure_memory, measure_turns


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with cheap_servers() as url:
        yield url


async def test_the_connections_of_many_people_are_open_and_half_an_hour_later_closed(url: str, tmp_path: Path) -> None:
    found = await measure_memory(4, 1, url, tmp_path)
    assert (found.opened, found.left, found.objects_left) == (13, 0, 0)
    assert found.program_bytes > 0
    assert found.programs_left == 0


@pytest.mark.parametrize("kind", KINDS)
async def test_servers_that_fail_or_are_silent_take_no_turn_from_others(kind: str, url: str, tmp_path: Path) -> None:
    found = await measure_turns(2, 2, 2, kind, url, tmp_path)
    assert len(found.seconds) == 4
    assert sorted(found.outcomes) == [("list_folder", "done")] * 4 + [(NOTE, "done")] * 4
