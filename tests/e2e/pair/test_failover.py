"""The machine of the database's primary server is gone, and the standby becomes the primary one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.api.storage.postgres_server import running_pair
from tests.e2e.pair.services import Pair, pause
from tests.e2e.pair.work import Load

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.story, pytest.mark.timeout(600)]

UNDER_WAY_SECONDS: Final = 4.0
AWAY_SECONDS: Final = 3.0


def test_a_failover_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with running_pair() as (primary, standby):
        url = primary.either(primary.new_database(), standby)
        with Pair(tmp_path, url) as pair, Load(pair):
            pause(UNDER_WAY_SECONDS)
            primary.kill()
            pause(AWAY_SECONDS)
            standby.promote()
            pause(UNDER_WAY_SECONDS)
