from __future__ import annotations

import pytest

from api.cli.terminal import format_size, visible, visible_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("报告 📁\nsecond line\ttab", "报告 📁\nsecond line\ttab"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("one\r\ntwo\rthree", "one\ntwo\\x0dthree"),
        ("abc\u202egpj.exe", "abc\\u202egpj.exe"),
        ("\ud800", "\\ud800"),
        ("👩\u200d👧 مرحبا\u200f", "👩\u200d👧 مرحبا\u200f"),
    ],
)
def test_what_could_control_the_terminal_is_escaped_and_the_rest_is_left(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_name_stays_on_one_line() -> None:
    assert visible_line("a\nb\tc") == "a\\nb\\tc"


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_960, "1.0 MB"),
        (52_428_800, "52.4 MB"),
        (5 * 10**12, "5.0 TB"),
    ],
)
def test_sizes_are_shown_in_powers_of_1000(size: int, shown: str) -> None:
    assert format_size(size) == shown
