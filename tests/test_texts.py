"""The texts of every room: the same codes and parameters in each language, and none that nobody says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, Final

import pytest

from drive_server.messages import LANGUAGES
from drive_server.texts import ALL, ORIGINAL, Texts

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("drive_server", "graph", "api")
PAGE: Final = ROOT / "api/web"
"""The page reads its texts itself; its own tests compare them."""
FOLDERS: Final = sorted(
    folder for package in PACKAGES for folder in (ROOT / package).rglob("texts") if PAGE not in folder.parents
)
ROOMS: Final = [folder for folder in FOLDERS if any(folder.glob("*.json"))]
HAN: Final = re.compile(r"[\u3400-\u9fff]")
LEFT_OUT: Final = {"zh:invalid_plan": {"problem"}}
"""Parameters that a language does not show: the problems of a plan are English."""
FORMS: Final = {"one", "other"}


def leaves(value: Any) -> Iterator[str]:
    """Yield the strings of a value."""
    if isinstance(value, str):
        yield value
    else:
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)


def parameters(value: Any) -> set[str]:
    return {name for leaf in leaves(value) for _, name, _, _ in Formatter().parse(leaf) if name}


def shape(value: Any) -> Any:
    """Return the kind of a value: a text in one form or two, a list, or an object with its keys."""
    if isinstance(value, dict) and value.keys() != FORMS:
        return sorted(value)
    return "list" if isinstance(value, list) else "text"


def name_of(folder: Path) -> str:
    return folder.relative_to(ROOT).as_posix()


@pytest.fixture(params=ROOMS, ids=name_of)
def room(request: pytest.FixtureRequest) -> Texts:
    return Texts(request.param)


def test_each_language_of_a_room_has_the_same_codes_shapes_and_parameters(room: Texts) -> None:
    for language in room.languages:
        found = json.loads((room.folder / f"{language}.json").read_text("utf-8"))
        assert found.keys() == room.codes
        for code, value in found.items():
            original = room.value(code, ORIGINAL)
            assert shape(value) == shape(original), code
            assert parameters(value) == parameters(original) - LEFT_OUT.get(f"{language}:{code}", set()), code


def test_each_room_has_each_language() -> None:
    found = {name_of(folder): Texts(folder).languages for folder in ROOMS}
    assert set(found.values()) == {LANGUAGES}


def test_no_file_names_a_code_twice(room: Texts) -> None:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    for language in room.languages:
        json.loads((room.folder / f"{language}.json").read_text("utf-8"), object_pairs_hook=unique)


def test_english_texts_have_no_chinese_in_them(room: Texts) -> None:
    found = {code: room.value(code, ORIGINAL) for code in room.codes}
    assert [code for code, value in found.items() if any(HAN.search(leaf) for leaf in leaves(value))] == []


@pytest.fixture
def fruit(tmp_path: Path) -> Texts:
    folder = tmp_path / "texts"
    folder.mkdir()
    english = {"apples": {"one": "{count} apple", "other": "{count} apples"}, "kinds": ["apple", "pear"]}
    (folder / "en.json").write_text(json.dumps(english), "utf-8")
    (folder / "zh.json").write_text(json.dumps({"apples": "{count} 个苹果", "kinds": ["苹果", "梨"]}), "utf-8")
    return Texts(folder)


def test_a_number_chooses_the_form_of_a_text(fruit: Texts) -> None:
    assert [fruit.say("apples", "en", count=count) for count in (0, 1, 2)] == ["0 apples", "1 apple", "2 apples"]
    assert fruit.say("apples", "zh", count=1) == "1 个苹果"


def test_a_list_of_words_is_read_as_it_is(fruit: Texts) -> None:
    assert fruit.value("kinds", "zh") == ["苹果", "梨"]
    assert (fruit.languages, fruit.codes) == (("en", "zh"), {"apples", "kinds"})


def test_a_language_without_a_file_is_english(fruit: Texts) -> None:
    assert fruit.say("apples", "../zh", count=2) == "2 apples"


def test_an_unknown_code_and_a_missing_parameter_are_errors(fruit: Texts) -> None:
    for code in ("pears", "apples"):
        with pytest.raises(KeyError):
            fruit.say(code, "en")


def test_a_room_has_one_set_of_texts_for_all_of_its_modules(tmp_path: Path) -> None:
    first, second = (Texts.beside(str(tmp_path / name)) for name in ("__init__.py", "sub.py"))
    assert first is second
    assert ALL.pop(first.folder) is first
