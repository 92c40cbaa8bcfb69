"""The service as it is, but its process is killed when a stored content is about to become a file, or just has."""

from __future__ import annotations

import os
import signal
from typing import Any

from drive_server import __main__ as program
from drive_server.services.documents.service import DocumentService

create = DocumentService.create_from_blob


def main(arguments: list[str]) -> int:
    """Run the program; the first argument is the moment, `before` or `after`."""
    moment, *others = arguments

    async def killed(*given: Any, **options: Any) -> Any:
        if moment == "after":
            await create(*given, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    DocumentService.create_from_blob = killed
    return program.main(others)
