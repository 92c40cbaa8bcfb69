"""Docstrings name the noun: few of their sentences have a clause with "what" as a subject or an object."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("graph", "drive_server", "api")
MOST: Final = 0.01
"""The share of a package's sentences. A question ("the person asks what happened") may have no plainer form."""

WHAT: Final = re.compile(r"\bwhat(?:ever)?\b", re.IGNORECASE)
CODE: Final = re.compile(r"`[^`]*`")
BETWEEN_SENTENCES: Final = re.compile(r"(?<=[.:;!?])\s+")
DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of all docstrings in a module, each with the line of its definition."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
            line = 1 if isinstance(node, ast.Module) else node.lineno
            yield from ((line, " ".join(one.split())) for one in BETWEEN_SENTENCES.split(docstring))


def _is_riddle(sentence: str) -> bool:
    return WHAT.search(CODE.sub("", sentence)) is not None


def _modules(package: str) -> Iterator[Path]:
    return (path for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts)


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_name_the_noun_in_place_of_a_clause_with_what(package: str) -> None:
    said = [(path, *one) for path in _modules(package) for one in _sentences(path.read_text("utf-8"))]
    riddles = [f"{path.relative_to(ROOT)}:{line}: {one}" for path, line, one in said if _is_riddle(one)]
    assert said
    assert len(riddles) < MOST * len(said), f"{len(riddles)} of {len(said)} sentences:\n" + "\n".join(riddles)


@pytest.mark.parametrize(
    ("sentence", "riddle"),
    [("Return what a request wants.", True), ("Return the `what` of an item.", False), ("Return somewhat.", False)],
)
def test_a_name_in_code_is_no_clause(sentence: str, riddle: bool) -> None:
    assert _is_riddle(sentence) is riddle


def _texts(value: object) -> Iterator[str]:
    """Yield the strings of a file of texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)


MAX_IN_TEXTS: Final = {"api/cli/texts": 0.04}
"""Rooms whose texts are not all corrected yet; a lower share replaces the one here."""
ROOMS: Final = [
    file
    for package in ("api", "drive_server")
    for file in sorted((ROOT / package).rglob("texts/en.json"))
    if ROOT / "api/web" not in file.parents
]


@pytest.mark.parametrize("file", ROOMS, ids=lambda file: file.parent.relative_to(ROOT).as_posix())
def test_texts_for_people_name_the_noun_in_place_of_a_clause_with_what(file: Path) -> None:
    said = [one for text in _texts(json.loads(file.read_text("utf-8"))) for one in BETWEEN_SENTENCES.split(text)]
    riddles = [one for one in said if _is_riddle(one)]
    most = MAX_IN_TEXTS.get(file.parent.relative_to(ROOT).as_posix(), MOST)
    assert len(riddles) <= max(1, most * len(said)), f"{len(riddles)} of {len(said)} sentences:\n" + "\n".join(riddles)
