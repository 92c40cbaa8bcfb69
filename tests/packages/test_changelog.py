"""The changelog when a version is made."""

from __future__ import annotations

import pytest

from tests.packages.changelog import NothingToReleaseError, dated
from tests.packages.lists import ROOT
from tests.packages.release import LICENCES, TOOLS

HEAD = "# Changelog\n\nAbout it.\n\n## [Unreleased]\n"
CHANGES = "\n### Added\n- A thing.\n"
EARLIER = "\n## [0.1.0] - 2026-10-01\n\n### Added\n- The first thing.\n"


def test_what_is_unreleased_becomes_the_block_of_the_version() -> None:
    assert dated(HEAD + CHANGES + EARLIER, "0.2.0", "2026-11-29") == (
        f"{HEAD}\n## [0.2.0] - 2026-11-29\n{CHANGES}{EARLIER}"
    )


def test_the_first_version_has_nothing_below_it() -> None:
    assert dated(HEAD + CHANGES, "0.1.0", "2026-11-29") == f"{HEAD}\n## [0.1.0] - 2026-11-29\n{CHANGES}"


def test_a_version_that_is_made_again_changes_nothing() -> None:
    once = dated(HEAD + CHANGES, "0.1.0", "2026-11-29")
    assert dated(once, "0.1.0", "2026-12-01") == once


def test_changes_after_a_version_need_another_number() -> None:
    with pytest.raises(ValueError, match="raise the version"):
        dated(HEAD + CHANGES + EARLIER, "0.1.0", "2026-11-29")


def test_without_changes_there_is_nothing_to_release() -> None:
    with pytest.raises(NothingToReleaseError):
        dated(HEAD + EARLIER, "0.2.0", "2026-11-29")


def test_the_changelog_of_this_program_has_the_form_that_a_release_needs() -> None:
    assert dated((ROOT / "CHANGELOG.md").read_text(), "999.0.0", "2026-11-29").count("## [999.0.0] - 2026-11-29\n") == 1


def test_each_licence_in_the_program_is_among_those_that_a_release_lists() -> None:
    folders = (ROOT / package for package in ("api", "drive_server", "graph"))
    found = {path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("LICENSE*")}
    assert found | {"LICENSE"} == set(LICENCES)
    assert all("==" in tool for tool in TOOLS)
