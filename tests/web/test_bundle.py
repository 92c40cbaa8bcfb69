"""The page in few files: all of it is there, and the first view is small."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from api.page.files import FOLDER, PageFile, PageFiles
from api.page.first_load import first_page
from tests.web.bundle import make

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 80_000
MAX_FILES = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page") / "bundle"


@pytest.fixture(scope="module")
def page(folder: Path) -> PageFiles:
    return make(folder)


def first_view(page: PageFiles, language: str) -> dict[str, int]:
    """Return the bytes of each file of the first view, as they are sent."""
    assert page.bundle
    html = first_page(page, language)
    names = [name for name in page.bundle.contents if page.address(name) in html]
    sizes = {name: len(found.compressed) for name in names if (found := page.get(name))}
    return {"/": len(PageFile.of(html.encode(), "text/html").compressed), **sizes}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_view_is_few_small_files(page: PageFiles, language: str) -> None:
    sizes = first_view(page, language)
    assert f"bundle/texts/{language}.json" in sizes
    assert len(sizes) <= MAX_FILES
    assert sum(sizes.values()) < MAX_BYTES, sizes


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_words_of_all_rooms_are_there(page: PageFiles, language: str) -> None:
    found = page.get(f"bundle/texts/{language}.json")
    assert found
    rooms = [json.loads(path.read_text()) for path in FOLDER.rglob(f"texts/{language}.json")]
    assert json.loads(found.content) == {key: text for room in rooms for key, text in room.items()}


def test_a_bundle_of_another_version_of_the_page_is_left_alone(folder: Path, page: PageFiles, tmp_path: Path) -> None:
    assert page.bundle
    other = tmp_path / "web"
    for name in page.names():
        path = other / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.text(name))
    (other / "app/main.js").write_text(page.text("app/main.js") + "\n")
    assert PageFiles(other, folder).bundle is None
    assert PageFiles(FOLDER, tmp_path / "nothing").bundle is None
