from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.drive_server.knowledge.omitting import Samples

SAMPLES: Samples = {}
