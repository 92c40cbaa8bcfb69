"""Either of two services is killed with -9 at any place where it stores, again and again, and started anew."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from tests.e2e.pair.services import Pair
from tests.e2e.pair.work import Load
from tests.e2e.soaking import AT_NIGHT, SECONDS_A_KILL, SEED, kills

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.storage.postgres_server import PostgresServer

KILLS: Final = kills(2)
PLACES: Final = 40
"""Three workers pass so many at each service in a few seconds."""
MAX_SECONDS: Final = 4
TEN_MINUTES: Final = 600

pytestmark = [pytest.mark.story, pytest.mark.timeout(300 + SECONDS_A_KILL * KILLS)]


@pytest.mark.parametrize(
    "ahead", [pytest.param((0, 0), id="one time"), pytest.param((0, TEN_MINUTES), id="two times", marks=AT_NIGHT)]
)
def test_kills_of_either_service_lose_and_double_nothing(
    tmp_path: Path, server: PostgresServer, ahead: tuple[float, float]
) -> None:
    random = Random(f"{SEED} {ahead}")
    with Pair(tmp_path, server.new_database(), ahead) as pair, Load(pair):
        for _ in range(KILLS):
            number = random.randrange(2)
            pair.kill_at(number, random.randint(1, PLACES), MAX_SECONDS)
            pair.start(number)
