"""Commands import late what a call needs: the modules that they load say more than seconds on a busy machine."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import routing
from starlette.testclient import TestClient

import api.app
from drive_server.kernel.settings import DriveSettings
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
NOT_FOR_SERVE = {
    *("authlib", "duckdb", "jwt", "lancedb", "langchain_openai", "onnxruntime", "openai", "pyarrow"),
    *("pypdfium2", "tokenizers", "unstructured"),
    *("graph.offline.answers", "graph.offline.understanding"),
}
PROGRAM = """
import sys
from api.cli import main
code = main(sys.argv[1:])
print(sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""

SERVE_UNTIL_READY = """
import gc, json, os, signal, sys
from api.cli import main
from api.cli.service import serve

async def report(self, app):
    state = {"modules": sorted(sys.modules), "collects": gc.isenabled(), "collections": collections() - before}
    print(json.dumps(state), file=sys.stderr)
    os.kill(os.getpid(), signal.SIGINT)

def collections():
    return gc.get_stats()[2]["collections"]

serve.Start._announce = report
before = collections()
sys.exit(main(["serve", "--port", "0"]))
"""

SWALLOWED_WHILE_IT_STARTS = """
import os, signal, sys
from importlib.abc import MetaPathFinder
from api.cli import main
from api.cli.service import serve

class Careless(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "api.app":
            try:
                os.kill(os.getpid(), signal.{name})
            except:
                pass

async def report(self, app):
    os._exit(3)

sys.meta_path.insert(0, Careless())
serve.Start._announce = report
sys.exit(main(["serve", "--port", "0"]))
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
        ["chat", "hello"],
        ["completion", "bash", "drive-agent", "ls", "/"],
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


@pytest.fixture(scope="module")
def at_ready(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The state of a service's process with a new data directory, when it is ready."""
    settings = {"DRIVE_DATA_DIR": str(tmp_path_factory.mktemp("new") / "data")}
    command = [sys.executable, "-c", SERVE_UNTIL_READY]
    result = subprocess.run(command, env=environment(settings), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(next(line for line in result.stderr.splitlines() if line.startswith("{")))


def test_a_service_with_a_new_data_directory_is_ready_before_it_loads_what_only_requests_need(
    at_ready: dict[str, Any],
) -> None:
    assert set(at_ready["modules"]) & NOT_FOR_SERVE == set()


def test_a_service_looks_at_no_old_objects_for_garbage_until_it_is_ready(at_ready: dict[str, Any]) -> None:
    assert at_ready["collects"]
    assert at_ready["collections"] == 0


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_that_an_imported_library_swallows_ends_the_start_all_the_same(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SWALLOWED_WHILE_IT_STARTS.format(name=name)]
    settings = environment({"DRIVE_DATA_DIR": str(tmp_path / "data")})
    result = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "Stopped" in result.stderr + result.stdout


def test_routes_are_built_when_a_request_comes_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = vars(routing)["_IncludedRouter"]._build_effective_context

    def noted(router: Any, route: Any) -> Any:
        built.append(router.include_context.path_for(route))
        return build(router, route)

    monkeypatch.setattr("fastapi.routing._IncludedRouter._build_effective_context", noted)
    app = api.app.create_app(DriveSettings(data_dir=tmp_path))
    assert built == []

    assert TestClient(app).get("/healthz").is_success
    assert "/healthz" in built
    assert not [path for path in built if path.startswith("/api/")]
