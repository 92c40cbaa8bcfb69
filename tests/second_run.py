"""A pytest plugin: failed stories run once more, after all else and alone; the summary lists what passes only then.

A story waits for a browser, or for processes that it kills: a busy machine can make it too late. Nothing else runs
twice.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

STORY: Final = "story"
"""The marker of tests that run once more; those in `tests/web/browser` have it by their folder."""
LATE: Final = "passed only when run again"
"""The category of such stories in pytest's closing line."""
_BROWSER: Final = Path(__file__).parent / "web" / "browser"
_FAILED: Final = ("failed", "error")
_IN_SECOND_RUN: Final = "--in-second-run"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch of a release, and the one by which the second run knows that it is one."""
    group = parser.getgroup("stories")
    group.addoption("--release", action="store_true", help="fail if a story passed only when it was run again")
    group.addoption(_IN_SECOND_RUN, action="store_true", help="this is the second run: nothing is run again")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and in the process that reports, the second run."""
    config.addinivalue_line(
        "markers", f"{STORY}: a test of a browser or of killed processes; it runs again if it fails"
    )
    if not hasattr(config, "workerinput") and not config.getoption(_IN_SECOND_RUN):
        config.pluginmanager.register(SecondRun(config), "second-run")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the stories of the browser."""
    for item in items:
        if _BROWSER in item.path.parents:
            item.add_marker(STORY)


@dataclass(slots=True, eq=False)
class SecondRun:
    """The stories of one run: whether there were any, which of them failed, and what the second run printed."""

    config: pytest.Config
    has_stories: bool = False
    failed: list[str] = field(default_factory=list[str])
    late: list[pytest.TestReport] = field(default_factory=list[pytest.TestReport])
    printed: str = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the stories that fail."""
        if STORY in report.keywords:
            self.has_stories = True
            if report.failed and report.nodeid not in self.failed:
                self.failed.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Run the failed stories again, and take those that pass out of the failures."""
        if not self.failed or exitstatus != pytest.ExitCode.TESTS_FAILED:
            return
        passed = self._run_again()
        reporter = self.config.pluginmanager.getplugin("terminalreporter")
        assert isinstance(reporter, TerminalReporter)
        self.late = list(_taken_out(reporter.stats, passed))
        if self.late:
            reporter.stats[LATE] = list({report.nodeid: report for report in self.late}.values())
        if not any(reporter.stats.get(kind) for kind in _FAILED) and not self.config.getoption("--release"):
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print what the second run says, why the late stories failed at first, and last their list."""
        if not self.has_stories:
            return
        terminalreporter.section("stories run again")
        for report in self.late:
            terminalreporter.write_line(f"{report.nodeid} failed at first ({report.when}):\n{report.longreprtext}")
        terminalreporter.write_line(self.printed or "No story was run again.")
        for nodeid in {report.nodeid: None for report in self.late}:
            terminalreporter.write_line(f"{LATE}: {nodeid}")

    def _run_again(self) -> set[str]:
        """Run the failed stories one after another in a process of their own; return the ids of those that pass."""
        with tempfile.TemporaryDirectory() as cache:
            command = self._command(Path(cache))
            done = subprocess.run(command, cwd=self.config.rootpath, capture_output=True, text=True, check=False)
            self.printed = f"{done.stdout}{done.stderr}".rstrip()
            failures = Path(cache, "v", "cache", "lastfailed")
            if done.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
                return set()
            again: Sequence[str] = json.loads(failures.read_text("utf-8")) if failures.exists() else []
        return set(self.failed) - set(again)

    def _command(self, cache: Path) -> list[str]:
        inifile = ["-c", str(self.config.inipath)] if self.config.inipath else []
        return [
            *(sys.executable, "-m", "pytest", *inifile, "--rootdir", str(self.config.rootpath)),
            *("-o", f"cache_dir={cache}", _IN_SECOND_RUN, *self.failed),
        ]


def _taken_out(stats: dict[str, list[pytest.TestReport]], passed: set[str]) -> Iterator[pytest.TestReport]:
    """Take the reports of the tests that passed now out of the failures."""
    for kind in _FAILED:
        reports = stats.get(kind, [])
        yield from (report for report in reports if report.nodeid in passed)
        reports[:] = [report for report in reports if report.nodeid not in passed]
        if not reports:
            stats.pop(kind, None)
