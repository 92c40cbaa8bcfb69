"""Runs the official conformance suite of MCP, and reads what it wrote down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from subprocess import STDOUT
from typing import TYPE_CHECKING, Any

import anyio

from tests.node.runtime import CONFORMANCE, environment, program

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

GOOD = frozenset({"SUCCESS", "INFO", "SKIPPED"})
SECONDS = 90


@dataclass(frozen=True, slots=True)
class Complaint:
    """A check that failed, or that the suite warns of."""

    scenario: str
    check: str
    is_warning: bool
    words: str

    def __str__(self) -> str:
        return f"{self.scenario}: {self.check}: {self.words}"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a run. `output` is the text that the suite printed."""

    scenarios: frozenset[str]
    passed: int
    complaints: tuple[Complaint, ...]
    exit_code: int
    output: str


async def run(release: str, url: str, scratch: Path, revision: str = "2025-11-25") -> Report:
    """Let a release of the suite ("0.1", "0.2") test the server at the address, with all that the revision asks."""
    results = scratch / "results"
    chosen = ["--suite", "all"] if release == "0.1" else ["--requirements", revision]
    command = program(CONFORMANCE[release], "server", "--url", url, "--output-dir", str(results), *chosen)
    with anyio.fail_after(SECONDS):
        finished = await anyio.run_process(command, check=False, stderr=STDOUT, cwd=scratch, env=environment(scratch))
    checks = list(_checks(results))
    return Report(
        scenarios=frozenset(scenario for scenario, _ in checks),
        passed=sum(check["status"] == "SUCCESS" for _, check in checks),
        complaints=tuple(_complaint(*found) for found in checks if found[1]["status"] not in GOOD),
        exit_code=finished.returncode,
        output=finished.stdout.decode(),
    )


def _checks(results: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    """Go through all checks with their scenarios: each has a folder, `server-NAME-2026-01-01T00-00-00-000Z`."""
    for file in sorted(results.rglob("checks.json")):
        scenario = file.parent.name.removeprefix("server-").rsplit("-", maxsplit=6)[0]
        for check in json.loads(file.read_text(encoding="utf-8")):
            yield scenario, check


def _complaint(scenario: str, check: dict[str, Any]) -> Complaint:
    said = check.get("errorMessage") or json.dumps(check.get("details"), ensure_ascii=False)
    return Complaint(
        scenario, check["id"], check["status"] == "WARNING", f"{check['status']}, {check['description']}: {said}"
    )
