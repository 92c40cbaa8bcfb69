"""The second run of failed stories, tried in real pytest processes, with and without workers."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.second_run import LATE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Run = Callable[..., pytest.RunResult]

pytestmark = pytest.mark.timeout(180)
pytest_plugins = ("pytester",)
BEGINNING = '''
import os, pathlib, pytest

def beginning(name):
    """Write down that a test begins, and in which process; return how often it has begun."""
    path = pathlib.Path(__file__).with_name(name + ".begun")
    with path.open("a") as file:
        file.write(f"{os.getpid()}\\n")
    return len(path.read_text().splitlines())
'''
LATE_STORY = """
    @pytest.mark.story
    def test_late():
        assert beginning("late") == 2, "too late"

    def test_neighbour():
        beginning("neighbour")
"""
BROKEN_STORY = """
    @pytest.mark.story
    def test_broken():
        beginning("broken")
        assert False, "broken for good"
"""
FAILING_UNIT = """
    def test_unit():
        assert beginning("unit") == 2, "a test that is no story"
"""


@pytest.fixture
def run(request: pytest.FixtureRequest, pytester: pytest.Pytester) -> Run:
    """Run pytest with the plugin on modules of the given names and texts; options come first, such as of workers."""
    pytester.makeini("[pytest]\naddopts = -q --strict-markers\n")
    pytester.makeconftest('pytest_plugins = ("tests.second_run",)')

    def runs(*options: str, **modules: str) -> pytest.RunResult:
        for name, text in modules.items():
            (pytester.path / f"test_{name}.py").write_text(BEGINNING + dedent(text), "utf-8")
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setenv("PYTHONPATH", str(request.config.rootpath))
            return pytester.runpytest_subprocess(*options)

    return runs


@pytest.fixture
def begun(pytester: pytest.Pytester) -> Callable[[str], list[str]]:
    """Return the processes in which a test began."""
    return lambda name: (pytester.path / f"{name}.begun").read_text("utf-8").split()


@pytest.mark.parametrize("options", [(), ("--numprocesses", "2", "--dist", "loadfile")], ids=["alone", "with workers"])
def test_a_story_that_passes_the_second_time_is_listed_and_nothing_else_runs_twice(
    run: Run, begun: Callable[[str], list[str]], options: Sequence[str]
) -> None:
    result = run(*options, story=LATE_STORY, other="def test_other():\n    beginning('other')\n")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*too late*", f"{LATE}: test_story.py::test_late", f"*2 passed, 1 {LATE} in *"])
    first, second = begun("late")
    assert first != second
    assert len(begun("neighbour")) == len(begun("other")) == 1


def test_a_story_that_fails_twice_fails_the_run(run: Run, begun: Callable[[str], list[str]]) -> None:
    result = run(broken=BROKEN_STORY, story=LATE_STORY)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{LATE}: test_story.py::test_late", f"*1 failed, 1 passed, 1 {LATE} in *"])
    assert len(begun("broken")) == 2


def test_a_test_that_is_no_story_is_not_run_again_and_its_failure_stays(
    run: Run, begun: Callable[[str], list[str]]
) -> None:
    result = run(unit=FAILING_UNIT, story=LATE_STORY)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{LATE}: test_story.py::test_late", f"*1 failed, 1 passed, 1 {LATE} in *"])
    assert len(begun("unit")) == 1


def test_a_story_whose_preparation_failed_is_run_again_too(run: Run) -> None:
    result = run(
        story="""
        @pytest.fixture
        def service():
            assert beginning("service") == 2
            yield
            assert beginning("end") == 1

        @pytest.mark.story
        def test_it(service):
            pass
        """
    )
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"{LATE}: test_story.py::test_it", f"1 {LATE} in *"])


def test_a_run_without_late_stories_says_so(run: Run) -> None:
    result = run(story="@pytest.mark.story\ndef test_it():\n    pass\n")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["No story was run again.", "*1 passed in *"])
    result.stdout.no_fnmatch_line(f"*{LATE}*")


def test_a_release_fails_when_a_story_passed_only_when_it_was_run_again(run: Run) -> None:
    result = run("--release", story=LATE_STORY)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{LATE}: test_story.py::test_late"])
    assert run("--release", story="@pytest.mark.story\ndef test_it():\n    pass\n").ret == pytest.ExitCode.OK


def test_stories_of_the_browser_are_stories_by_their_folder(request: pytest.FixtureRequest) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not story", "tests/web/browser"]
    done = subprocess.run(command, cwd=request.config.rootpath, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout
