from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.files.inner_paths import OuterPathError, inner_path, is_inner
from drive_server.kernel.files.portable_names import portable_name
from tests.hostile_names import OUTER

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", OUTER)
def test_a_name_that_leads_elsewhere_on_some_system_is_refused(name: str, tmp_path: Path) -> None:
    assert not is_inner(name)
    with pytest.raises(OuterPathError):
        inner_path(tmp_path, name)


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "a/b.txt",
        "Files/Été/报告 (2).docx",
        "..a",
        "a..b",
        ".hidden",
        "...a/x",
        "CON_.txt",
        "console",
        "nullable.md",
    ],
)
def test_a_plain_name_stays(name: str, tmp_path: Path) -> None:
    assert inner_path(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize("name", [*OUTER, "a", "été", "ｃｏｎ", "x" * 300, " . ", "a\tb"])
def test_every_name_that_the_program_writes_is_one_that_it_reads(name: str) -> None:
    assert is_inner(portable_name(name))


@pytest.mark.parametrize("place", ["link", "folder/link", "link/below", "dangling"])
def test_a_link_in_the_tree_is_not_followed(tmp_path: Path, place: str) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (outside / "below").write_text("secret")
    (root / "folder").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    (root / "folder" / "link").symlink_to(outside / "below")
    (root / "dangling").symlink_to(tmp_path / "nowhere")

    with pytest.raises(OuterPathError):
        inner_path(root, place)
