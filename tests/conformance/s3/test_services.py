"""Two services with contents in a bucket of a real store, which is away for a while: nothing is lost or doubled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.api.storage.postgres_server import running_server
from tests.conformance.s3.test_contents import AWAY_SECONDS, disk_standing_still, gateway_away
from tests.e2e.pair.services import Pair, pause
from tests.e2e.pair.work import Load
from tests.e2e.soaking import AT_NIGHT

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.conformance.s3.ceph import Ceph

pytestmark = [AT_NIGHT, pytest.mark.story, pytest.mark.timeout(900)]

UNDER_WAY_SECONDS: Final = 2.0


@pytest.mark.parametrize("fault", [gateway_away, disk_standing_still])
def test_services_whose_bucket_has_a_fault_lose_and_double_nothing(
    ceph: Ceph, tmp_path: Path, fault: Callable[[Ceph], AbstractContextManager[None]]
) -> None:
    bucket = f"s3://{ceph.new_bucket()}/prefix"
    with running_server() as server, Pair(tmp_path, server.new_database(), blobs=bucket) as pair, Load(pair):
        pause(UNDER_WAY_SECONDS)
        with fault(ceph):
            pause(AWAY_SECONDS)
        pause(UNDER_WAY_SECONDS)
    assert not (tmp_path / "blobs").exists()
