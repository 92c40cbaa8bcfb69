from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests import buckets
from tests.drive_server.conftest import drive_settings

if TYPE_CHECKING:
    from tests.conformance.s3.ceph import Ceph

__all__ = ["drive_settings"]


@pytest.fixture(scope="session")
def ceph() -> Ceph:
    """The gateway of this process. Where it has to be, a machine without Ceph fails; elsewhere it skips the tests."""
    if shutil.which("radosgw") is None and not buckets.IS_REAL and "CI" not in os.environ:
        pytest.skip("Ceph is not installed: make .venv/installed-ceph")
    return buckets.server()
