"""litmus, the conformance suite of WebDAV that nobody here wrote, as Debian has it: all of it passes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.conformance.webdav.programs import program
from tests.drive_server.http.service import running

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.kernel.settings import DriveSettings

TESTS = {"basic": 16, "copymove": 13, "props": 30, "locks": 41, "http": 4}
"""The number of tests in each part: fewer would mean that some did not run."""
UNAVOIDABLE = "DELETE removed collection resource with Request-URI including fragment"
"""The HTTP server's parser cuts the fragment off, which no client may send (RFC 9112, section 3.2)."""


@pytest.mark.parametrize("part", TESTS)
async def test_every_test_passes_without_a_warning(drive_settings: DriveSettings, tmp_path: Path, part: str) -> None:
    async with running(drive_settings) as service:
        command = [program("litmus"), f"{service.url}/dav/", "anybody", service.token]
        outcome = await anyio.run_process(command, env={"TESTS": part}, cwd=tmp_path, check=False)
    output = outcome.stdout.decode().replace("\r", "\n")
    assert outcome.returncode == 0, output
    assert f"of {TESTS[part]} tests run: {TESTS[part]} passed, 0 failed" in output
    assert [line for line in re.findall("WARNING: (.*)", output) if not line.startswith(UNAVOIDABLE)] == []
