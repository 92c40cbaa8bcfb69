from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import api.cli
from api.cli import texts
from api.cli.failure import CommandError, system_reason
from drive_server.kernel.messages import TERMINAL_VARIABLES
from drive_server.kernel.texts import ORIGINAL
from graph.models.dialects import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(api.cli.__file__).parent
MODULES = [path for path in SOURCE.rglob("*.py") if path.parent.name != "texts"]
CODE = re.compile(r"""(?:\btext|\bhint_of|Error\.of)\(\s*["']([a-z_.]+)["']""")
FIELD = re.compile(r"%(?:\(\w+\))?[sr]")
HAN = re.compile("[\u4e00-\u9fff]")
SENTENCE = re.compile(r"[A-Za-z]{2,},? [A-Za-z]|\b[A-Z][a-z]+[.:…?!](?:\s|$)")
FOR_PROGRAMS = re.compile(
    r"^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA|BEGIN|ORDER) |IS NOT NULL|^drive-agent |^bold \w+$"
)
"""SQL, command lines and styles."""
_OTHER_NAMES = ("Deep folders", "memories there", "new version", "threads there", "Shared with me")
KINDS = {
    *("agent", "approval", "call", "check", "covered", "decision", "grant", "index", "mode", "origin", "part", "plan"),
    *("reading", "resolved", "risk", "role", "rule", "run", "server", "state", "system", "tool", "user"),
}
WORDS = {code: texts.TEXTS.template(code, ORIGINAL) for code in texts.TEXTS.codes if code.partition(".")[0] in KINDS}
"""Words of the service, by their kind."""
NAMES = {*WORDS.values(), *_OTHER_NAMES}
HELP = {"arguments.py", "file_arguments.py"}
"""Modules of `--help`, whose texts have a table of their own."""
SHELLS = "completion"
"""The folder of the scripts for shells."""


def test_every_code_that_is_used_has_its_sentence() -> None:
    used = {code for path in MODULES for code in CODE.findall(path.read_text())}

    assert len(used) > 300
    assert used - texts.TEXTS.codes - {"no_threads.hint"} == set()


def is_log(node: ast.AST) -> bool:
    """Say whether the node is for the log, or describes a setting: those are English."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).startswith("logger.")
    return isinstance(node, ast.keyword) and node.arg == "description"


def literals(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts below a node but for docstrings and what is for the log."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    for below in ast.iter_child_nodes(node):
        if not is_log(below):
            yield from literals(below)


def spoken(path: Path) -> Iterator[ast.Constant]:
    """Yield the texts of a module that a person may read."""
    tree = ast.parse(path.read_text())
    if path.name not in HELP:
        yield from literals(tree)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".error")):
            yield from literals(node)


def test_no_sentence_stands_outside_of_the_tables() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: {node.value}"
        for path in MODULES
        if path.parent.name != SHELLS
        for node in spoken(path)
        if SENTENCE.search(said := str(node.value)) and said not in NAMES
        if not FOR_PROGRAMS.search(said) and not HAN.search(said)
    ]

    assert found == []


def test_the_rules_of_models_are_said_as_the_log_says_them() -> None:
    assert {name: WORDS[f"rule.{name}"] for name in RULES} == {name: rule.description for name, rule in RULES.items()}


def test_a_message_of_argparse_has_its_fields_in_the_same_order() -> None:
    for language in texts.TEXTS.languages:
        table = texts.TEXTS.value("argparse", language)
        assert [english for english, other in table.items() if FIELD.findall(english) != FIELD.findall(other)] == []


@pytest.mark.parametrize(
    ("settings", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "zh_TW"}, "zh"),
    ],
)
def test_the_terminal_names_its_language(
    settings: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in TERMINAL_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    assert texts.language() == language


def test_an_error_has_its_hint_with_it() -> None:
    error = CommandError.of("is_folder", ref="/a")

    assert (error.message, error.hint) == ("/a is a folder.", "Add -r to take it with all that is in it.")


@pytest.mark.parametrize(
    ("error", "english", "chinese"),
    [
        (PermissionError(13, "Permission denied"), "Permission denied", "没有权限"),
        (OSError(999, "Odd"), "Odd", "Odd"),
        (ValueError("bad"), "bad", "bad"),
    ],
)
def test_what_the_system_says_is_translated_where_it_is_known(
    error: Exception, english: str, chinese: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, Any] = {}
    for locale in ("C", "zh_CN.UTF-8"):
        monkeypatch.setenv("LC_ALL", locale)
        said[locale] = system_reason(error)

    assert said == {"C": english, "zh_CN.UTF-8": chinese}
