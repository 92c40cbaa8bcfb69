"""Commands import late what a call needs: the modules that they load say more than seconds on a busy machine."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.api.cli.command import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.e2e.service import Service

HEAVY = {
    "alembic",
    "duckdb",
    "fastapi",
    "lancedb",
    "langchain",
    "langchain_core",
    "langgraph",
    "mcp",
    "numpy",
    "onnxruntime",
    "openai",
    "pyarrow",
    "sqlalchemy",
    "tokenizers",
    "unstructured",
    "uvicorn",
}
NOT_FOR_MCP = {
    *("PIL", "alembic", "duckdb", "jwt", "lancedb", "langchain", "langchain_core", "langgraph", "onnxruntime"),
    *("openai", "pyarrow", "pypdfium2", "stream_zip", "tokenizers", "unstructured"),
}
PROGRAM = """
import sys
from api.cli import main
code = main(sys.argv[1:])
print(sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


def modules_of(*words: str, settings: dict[str, str]) -> set[str]:
    """Return the top packages that a command has loaded at its end."""
    command = [sys.executable, "-c", PROGRAM, *words]
    result = subprocess.run(
        command, env=environment(settings), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return set(result.stderr.splitlines()[-1].strip("[]").replace("'", "").split(", "))


@pytest.mark.parametrize(
    "words",
    [
        ["ls"],
        ["tree"],
        ["search", "nothing"],
        ["put", "-", "/from-a-pipe"],
        ["threads", "list"],
        ["link", "/", "--list"],
    ],
    ids=" ".join,
)
def test_a_command_that_talks_to_a_service_loads_nothing_heavy(
    service: Service, alice: Person, words: list[str], tmp_path: Path
) -> None:
    settings = {"DRIVE_AGENT_URL": service.url, "DRIVE_AGENT_TOKEN": alice.token, "DRIVE_DATA_DIR": str(tmp_path)}

    assert modules_of(*words, settings=settings) & HEAVY == set()


def test_the_mcp_server_loads_no_assistant_and_nothing_that_its_first_call_does_not_need(service: Service) -> None:
    assert modules_of("mcp", settings={"DRIVE_DATA_DIR": str(service.data_dir)}) & NOT_FOR_MCP == set()
