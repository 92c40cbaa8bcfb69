from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.bare_parsers import PARSERS
from benchmarks.documents import MAKERS, document
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.text.characters import count_cjk

if TYPE_CHECKING:
    from pathlib import Path

SCALE = 0.2


@pytest.mark.parametrize("suffix", MAKERS)
def test_every_file_of_the_benchmark_is_read_in_both_languages(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(document(suffix, SCALE))
    extraction = extract(path, path.name, "")
    assert (extraction.state, extraction.reason) == ("ready", "")
    assert count_cjk(extraction.text) > 500
    assert extraction.text.count("government") > 5


@pytest.mark.parametrize("suffix", PARSERS)
def test_a_bare_parser_yields_the_text_in_both_languages(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(document(suffix, SCALE))
    found = str(PARSERS[suffix][1](path))
    assert count_cjk(found) > 500
    assert found.count("government") > 5


def test_two_files_of_one_kind_differ_and_each_is_the_same_at_every_run() -> None:
    assert document("txt", SCALE, 1) != document("txt", SCALE, 2)
    assert document("csv", SCALE, 1) == document("csv", SCALE, 1)
