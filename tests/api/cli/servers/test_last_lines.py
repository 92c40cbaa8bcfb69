"""The test of a server that did not start, as the terminal shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.cli.servers.definitions import show_test
from api.cli.terminal import Terminal

if TYPE_CHECKING:
    import pytest


def test_the_last_lines_of_a_program_stand_below_the_reason_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    wrote = "Traceback:\nModuleNotFoundError: No module named 'x'\x1b[2J"
    tested = {"status": "error", "sentence": "The program ended (1).", "last_lines": wrote}
    assert show_test(tested, Terminal()) == 1
    printed = capsys.readouterr().err.splitlines()
    assert printed[:3] == ["It can't be used: The program ended (1).", "The last that it wrote:", "  Traceback:"]
    assert printed[3].startswith("  ModuleNotFoundError: No module named 'x'")
    assert "\x1b" not in "".join(printed)
