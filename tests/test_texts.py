"""The texts of every room: the same codes and parameters in each language, and none that nobody says."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, Final

import pytest

from drive_server.kernel.messages import LANGUAGES
from drive_server.kernel.texts import ALL, ORIGINAL, Texts

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("drive_server", "graph", "api")
PAGE: Final = ROOT / "api/web"
"""The page reads its texts itself; its own tests compare them."""
FOLDERS: Final = sorted(
    folder for package in PACKAGES for folder in (ROOT / package).rglob("texts") if PAGE not in folder.parents
)
ROOMS: Final = [folder for folder in FOLDERS if any(folder.glob("*.json"))]
HAN: Final = re.compile(r"[\u3400-\u9fff]")
READS_CHINESE: Final = {
    "drive_server/kernel/moments.py": "times as people write them",
    "drive_server/kernel/text/": "characters and their widths",
    "drive_server/knowledge/": "files in Chinese: numbers, dates, headings, sentences",
    "drive_server/mcp/prompt_texts.py": "the language of a text",
    "drive_server/mcp/tools/": "examples in the descriptions of arguments",
    "drive_server/services/identity/profile.py": "the language of a text",
    "drive_server/services/text/quotations.py": "quotation marks",
    "graph/agents/outcomes.py": "answers that say no",
    "graph/approvals/causes.py": "words by which a text asks for a call",
    "graph/citations/": "claims in answers",
    "graph/memory/facts.py": "the language of a text",
    "graph/models/": "errors and thoughts of models",
    "graph/offline/": "requests, as the built-in model understands them",
    "graph/planning/": "commands about plans, and answers that wait",
    "graph/policy/": "orders in a text, and words that ask for a call",
    "graph/prompts.py": "words of people, quoted for a model",
    "graph/routing/": "requests, as the router understands them",
    "graph/servers/elicitation/": "answers of yes and no, and words for secrets",
    "graph/tools/": "words of people, quoted for a model",
    "api/cli/help.py": "the width of a text",
    "api/storage/migrations/": "characters of a text",
}
"""By folder or module, the Chinese that it recognises or quotes. Words for people stand in `texts/`."""
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


def test_no_module_has_chinese_words_for_people() -> None:
    modules = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = {name_of(path) for path in modules if any(HAN.search(value) for value in _strings(path))}
    assert sorted(name for name in found if not name.startswith(tuple(READS_CHINESE))) == []
    unused = [place for place in READS_CHINESE if not any(name.startswith(place) for name in found)]
    assert unused == [], "these need no exception any more"


def _strings(path: Path) -> Iterator[str]:
    """Yield the strings of a module, its docstrings too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


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


def marked(value: Any) -> Any:
    """Return a value in a made-up language: each of its texts in brackets."""
    if isinstance(value, str):
        return f"<{value}>"
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    made = {key: marked(part) for key, part in parts}
    return made if isinstance(value, dict) else list(made.values())


SPEAK: Final = """
import json
from starlette.requests import Request
from api.cli.arguments import build_parser
from api.cli.texts import text
from api.errors import NotFoundError
from drive_server.kernel.errors import NotFoundError as NoItemError
from drive_server.kernel.http.languages import language_of
from drive_server.http.pages.layout import refused
from drive_server.kernel.messages import Message
request = Request({"type": "http", "query_string": b"", "headers": [(b"accept-language", b"xx-YY")]})
asked = language_of(request)
print(json.dumps({
    "drive": NoItemError(Message.of("nothing_here")).texts(asked),
    "journal": NoItemError(Message.of("nothing_here")).to_dict()["messages"]["hint"]["xx"],
    "service": NotFoundError().texts(asked),
    "terminal": text("no_threads"),
    "help": build_parser().format_help(),
    "page": refused(asked).body.decode(),
}))
"""


def test_a_language_is_added_by_its_files(tmp_path: Path) -> None:
    left = shutil.ignore_patterns("web", "__pycache__", "model", "multilingual", "crossing")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=left)
    for folder in ROOMS:
        texts = json.loads((folder / f"{ORIGINAL}.json").read_text("utf-8"))
        file = tmp_path / folder.relative_to(ROOT) / "xx.json"
        file.write_text(json.dumps({code: marked(value) for code, value in texts.items()}), "utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", SPEAK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "LC_ALL": "xx_YY.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(ran.stdout)
    assert said["drive"] == ["<There is nothing here.>", "<See /openapi.json.>"]
    assert said["journal"] == "<See /openapi.json.>"
    assert said["service"][0] == "<There is nothing here with this id.>"
    assert said["terminal"] == "<There are no conversations.>"
    assert "<start the service>" in said["help"]
    assert "<h1>&lt;Not from here&gt;</h1>" in said["page"]
