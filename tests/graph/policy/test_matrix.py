"""The matrix in the code and the one in the docs are the same."""

from pathlib import Path
from typing import get_args

import pytest

from graph.policy.matrix import MATRIX, Level, Rule, ToolKind
from graph.policy.reasons import Code, sentence
from tests.graph.facts import TOOLS

GATEWAY = (Path(__file__).parents[3] / "docs" / "GATEWAY.md").read_text()


@pytest.mark.parametrize(("kind", "level"), MATRIX)
def test_each_cell_has_its_row_in_the_docs(kind: ToolKind, level: Level) -> None:
    cell = MATRIX[kind, level]
    row = f"| {kind} | {level} | {cell.verdict} | {cell.tainted} | {cell.cover} | `{cell.reason}` | "
    assert GATEWAY.count(row) == 1
    named = GATEWAY.partition(row)[2].partition(" |\n")[0]
    tools = [f"`{name}`" for name, tool in TOOLS.items() if tool.rule == Rule(kind, level)]
    assert sorted(named.split(", ")) == sorted(tools or ["–"])


def test_the_docs_have_no_other_row() -> None:
    kinds = {kind for kind, _ in MATRIX}
    rows = [line for line in GATEWAY.splitlines() if line.startswith("| ") and line.split(" | ")[0][2:] in kinds]
    assert len(rows) == len(MATRIX)


@pytest.mark.parametrize("code", get_args(Code))
def test_each_reason_has_its_row_in_the_docs(code: Code) -> None:
    assert f"| `{code}` | {sentence(code, 'en')} |" in GATEWAY
