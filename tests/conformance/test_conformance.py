"""The official conformance suite of MCP, which nobody here wrote: nothing may fail, nothing is expected to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance import alone, fixtures, suite
from tests.conformance.serving import serving_without_key

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.kernel.settings import DriveSettings

SCENARIOS = {"0.1": 32, "0.2": 33}
"""The number of scenarios that each release has for protocol 2025-11-25: fewer would mean that some did not run."""

NEED_NO_FIXTURE = frozenset(
    {
        "dns-rebinding-protection",
        "logging-set-level",
        "ping",
        "prompts-list",
        "resources-list",
        "server-initialize",
        "server-session-lifecycle",
        "server-sse-multiple-streams",
        "tools-list",
    }
)
WIRE_FORMAT = "wire-schema-valid"

OUT_OF_DATE = {"0.1": "server-sse-polling", "0.2": ""}
"""Warns of what a server must not send: it says to speak 2025-03-26, whose clients know no events without data."""


@pytest.mark.parametrize("release", SCENARIOS)
async def test_the_server_with_the_suites_fixtures_passes_every_scenario(
    release: str, drive_settings: DriveSettings, tmp_path: Path
) -> None:
    async with serving_without_key(drive_settings) as service:
        fixtures.mount(service.drive.server)
        report = await suite.run(release, f"{service.url}/mcp", tmp_path)

    complaints = [
        str(complaint)
        for complaint in report.complaints
        if not (complaint.is_warning and complaint.scenario == OUT_OF_DATE[release])
    ]
    assert not complaints, "\n".join(complaints)
    assert report.exit_code == 0, report.output
    assert len(report.scenarios) == SCENARIOS[release], sorted(report.scenarios)


@pytest.mark.parametrize("release", SCENARIOS)
async def test_the_server_as_it_is_passes_the_scenarios_that_need_no_fixture(
    release: str, drive_settings: DriveSettings, tmp_path: Path
) -> None:
    async with serving_without_key(drive_settings) as service:
        report = await suite.run(release, f"{service.url}/mcp", tmp_path)

    complaints = [
        str(complaint)
        for complaint in report.complaints
        if complaint.scenario in NEED_NO_FIXTURE or complaint.check == WIRE_FORMAT
    ]
    assert not complaints, "\n".join(complaints)
    assert len(report.scenarios & NEED_NO_FIXTURE) >= len(NEED_NO_FIXTURE) - (release == "0.1"), report.output


SCENARIOS_WITHOUT_SESSIONS = 50
NOT_SCORED = ("tasks-", "http-custom-header-server-validation")
"""Scenarios of an extension, and of headers for arguments: they need tools that the drive has no kind of."""
NOT_DONE = frozenset(
    {
        # An answer without the question's signed state is none: the suite sends one to see whether more is ignored.
        "sep-2322-ignore-unexpected-params",
        # The suite wants a tool that changes the list of tools, which no tool of the drive can.
        "sep-2575-server-sends-tools-list-changed-on-subscription",
    }
)
"""Warnings."""


async def test_the_server_passes_every_scored_scenario_of_the_revision_without_sessions(
    drive_settings: DriveSettings, tmp_path: Path
) -> None:
    async with serving_without_key(drive_settings) as service:
        fixtures.mount(service.drive.server)
        alone.mount(service.drive.server)
        report = await suite.run("0.2", f"{service.url}/mcp", tmp_path, "2026-07-28")

    complaints = [
        str(complaint)
        for complaint in report.complaints
        if not complaint.scenario.startswith(NOT_SCORED) and not (complaint.is_warning and complaint.check in NOT_DONE)
    ]
    assert not complaints, "\n".join(complaints)
    assert report.exit_code == 0, report.output
    assert len(report.scenarios) == SCENARIOS_WITHOUT_SESSIONS, sorted(report.scenarios)
