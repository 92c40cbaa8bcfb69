"""A person's MCP servers over HTTP: defined, changed, kept apart, with real servers behind them."""

from __future__ import annotations

import json
import logging
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.http.routes.servers.defining import (
    SECRET,
    SERVERS,
    ZH,
    connect,
    decide,
    define,
    define_program,
    echo_of,
    put,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.real_service import RealService
    from tests.e2e.person import Person
    from tests.fakes.small_mcp import SmallServer


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"base_url": "https://x.example.com/mcp"}, "streamableHttp"),
        ({"base_url": "https://x.example.com/a/mcp?key=1"}, "streamableHttp"),
        ({"base_url": "http://x.example.com/sse"}, "sse"),
        ({"base_url": "https://x.example.com/mcp", "type": "sse"}, "sse"),
        ({"command": "npx", "args": ["-y", "server"]}, "stdio"),
        ({"base_url": "https://x.example.com/", "type": "streamableHttp"}, "streamableHttp"),
    ],
)
def test_the_type_follows_from_the_address_unless_it_is_named(
    person: Person, fields: dict[str, Any], kind: str
) -> None:
    made = define(person, **fields)
    assert made["type"] == kind
    assert person.get(f"{SERVERS}/{made['id']}") == made
    assert person.get(SERVERS)["items"] == [made]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"name": "x"},
        {"name": "", "command": "npx"},
        {"name": "a\nb", "command": "npx"},
        {"name": "x", "base_url": "ftp://x.example.com/mcp"},
        {"name": "x", "base_url": "https://me:pw@x.example.com/mcp"},
        {"name": "x", "base_url": "https://[::1/mcp"},
        {"name": "x", "base_url": "https://x.example.com/mcp", "type": "stdio"},
        {"name": "x", "command": "npx", "type": "sse"},
        {"name": "x", "command": "npx", "timeout": 0},
        {"name": "x", "command": "npx", "args": "-y"},
        {"name": "x", "command": "npx", "env": {"A=B": "c"}},
        {"name": "x", "command": "npx", "env": {"A": "c\x00"}},
        {"name": "x", "command": "npx", "env": {"A": 7}},
        {"name": "x", "base_url": "https://x.example.com/mcp", "headers": {"X": "a\r\nY: b"}},
        {"name": "x", "base_url": "https://x.example.com/mcp", "headers": {"X Y": "a"}},
        {"name": "x", "base_url": "https://x.example.com/mcp", "headers": {"Host": "a"}},
        {"name": "x", "base_url": "https://x.example.com/mcp", "headers": {"X-A": "a", "x-a": "b"}},
        {"name": "x", "command": "npx", "allows": ["everything"]},
        {"name": "x", "command": "npx", "misspelt": True},
    ],
)
def test_a_definition_that_can_not_be_used_is_refused(person: Person, fields: dict[str, Any]) -> None:
    refused = person.http.post(SERVERS, json=fields)
    assert refused.status_code == 422, refused.text
    assert refused.json()["code"] == "invalid_argument"
    assert person.get(SERVERS)["items"] == []


def test_a_change_keeps_what_is_left_out(person: Person) -> None:
    made = define(person, base_url="https://x.example.com/mcp", headers={"X-Key": SECRET}, timeout=30)
    changed = put(person, made, name="Other", disabled_tools=["a"])
    assert changed == made | {"name": "Other", "disabled_tools": ["a"], "updated_at": changed["updated_at"]}
    assert put(person, made, base_url="https://x.example.com/sse")["type"] == "sse"
    assert put(person, made, type="streamableHttp")["type"] == "streamableHttp"
    moved = put(person, made, command="npx", args=["server"])
    assert (moved["type"], moved["base_url"]) == ("stdio", "")
    back = put(person, made, base_url="https://x.example.com/mcp")
    assert (back["type"], back["command"], back["args"]) == ("streamableHttp", "", [])


def test_a_name_is_taken_once_and_the_number_is_limited(person: Person) -> None:
    for number in range(6):
        define(person, f"S{number}", base_url="https://x.example.com/mcp")
    more = person.http.post(SERVERS, json={"name": "S6", "command": "npx"})
    assert (more.status_code, more.json()["code"]) == (409, "limit_reached")
    assert "6" in person.http.post(SERVERS, json={"name": "S6", "command": "npx"}, headers=ZH).json()["detail"]
    first, second, *_ = person.get(SERVERS)["items"]
    taken = person.http.put(f"{SERVERS}/{first['id']}", json={"name": "S1"})
    assert (taken.status_code, taken.json()["code"]) == (409, "name_conflict")
    assert person.http.delete(f"{SERVERS}/{second['id']}").status_code == 204
    again = person.http.post(SERVERS, json={"name": "S0", "command": "npx"})
    assert (again.status_code, again.json()["code"]) == (409, "name_conflict")


def test_somebody_elses_server_does_not_exist(person: Person, running: RealService) -> None:
    made = define(person, command="npx")
    other = running.owner()
    for method, path, body in (
        ("GET", "", None),
        ("PUT", "", {"name": "Mine"}),
        ("DELETE", "", None),
        ("POST", "/connect", None),
        ("GET", "/tools", None),
        ("PUT", "/tools", {"tools": [{"name": "echo", "isEnabled": False}]}),
    ):
        for server_id in (made["id"], "none"):
            refused = other.http.request(method, f"{SERVERS}/{server_id}{path}", json=body)
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), method + path
    assert other.get(SERVERS)["items"] == []
    other.close()
    assert person.get(f"{SERVERS}/{made['id']}")["name"] == "Small"


def test_a_key_that_only_reads_changes_nothing(person: Person) -> None:
    made = define(person, command="npx")
    reader = person.with_key("reader", "read")
    assert reader.get(SERVERS)["items"] == [made]
    for method, path, body in (
        ("POST", SERVERS, {"name": "x", "command": "npx"}),
        ("PUT", f"{SERVERS}/{made['id']}", {"name": "x"}),
        ("DELETE", f"{SERVERS}/{made['id']}", None),
        ("POST", f"{SERVERS}/{made['id']}/connect", None),
        ("POST", f"{SERVERS}/import", {"mcpServers": {}}),
    ):
        assert reader.http.request(method, path, json=body).status_code == 403
    reader.close()


def test_nothing_is_approved_in_advance_by_a_key_that_could_not_approve_it(person: Person, small: list[str]) -> None:
    writer = person.with_key("writer", "read", "write")
    refused = writer.http.post(SERVERS, json={"name": "x", "command": "npx", "auto_approve_tools": ["echo"]})
    assert refused.json()["details"] == {"scope": "delete"}
    made = define_program(writer, small)
    assert decide(writer, made, isAutoApprove=True).status_code == 403
    assert writer.http.put(f"{SERVERS}/{made['id']}", json={"auto_approve_tools": ["echo"]}).status_code == 403
    assert decide(writer, made, isEnabled=False).status_code == 200
    writer.close()


@pytest.mark.sqlite("looks into all files of the data directory")
def test_a_secret_stands_nowhere(
    person: Person, remote: SmallServer, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answers: list[str] = []
    made = define(person, "Web", base_url=remote.url, headers={"Authorization": f"Bearer {SECRET}"})
    env = {"API_TOKEN": SECRET}
    refused = define(person, "Program", command="/bin/refused", env=env)
    for method, path, body in (
        ("POST", SERVERS, {"name": "Web", "base_url": remote.url, "headers": {"X": SECRET}}),
        ("POST", SERVERS, {"name": "Bad", "base_url": remote.url, "headers": {"X": f"{SECRET}\n"}}),
        ("POST", SERVERS, {"name": "Bad", "command": "x", "env": {"X": [SECRET]}}),
        ("POST", SERVERS, {"name": "Bad", "env": env}),
        ("POST", f"{SERVERS}/import", {"mcpServers": {"Bad": {"command": 7, "env": env}, "Program": {"env": env}}}),
        ("PUT", f"{SERVERS}/{made['id']}", {"name": "Program", "headers": {"X": SECRET}}),
        ("GET", SERVERS, None),
        ("GET", f"{SERVERS}/{made['id']}", None),
        ("POST", f"{SERVERS}/{made['id']}/connect", None),
        ("POST", f"{SERVERS}/{refused['id']}/connect", None),
        ("GET", f"{SERVERS}/{made['id']}/tools", None),
        ("PUT", "/api/assistants/drive_agent/mcp-servers", {"server_ids": [made["id"], refused["id"]]}),
    ):
        answers.append(person.http.request(method, path, json=body).text)
    with person.chat("hello") as turn:
        run_id = turn.finish()["run_id"]
    answers += [person.http.get(f"/api/runs/{run_id}/{part}").text for part in ("audit", "context")]
    answers.append(json.dumps(turn.seen))
    remote.shutdown()
    answers.append(person.http.post(f"{SERVERS}/{made['id']}/connect").text)
    assert SECRET not in "\n".join(answers)
    assert SECRET not in caplog.text
    person.http.put(f"{SERVERS}/{made['id']}", json={"timeout": 10})
    written = [path for path in (folder / "data").rglob("*") if path.is_file()]
    assert {"api.db", "graph.db", "drive.db"} <= {path.name for path in written}
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
    with closing(sqlite3.connect(folder / "data" / "api.db")) as connection:
        (stored,) = connection.execute("SELECT headers FROM mcp_servers WHERE id = ?", (made["id"],)).fetchone()
    assert json.loads(stored)["Authorization"]


def test_the_servers_of_another_program_are_taken_over(person: Person) -> None:
    document = {
        "mcpServers": {
            "Files": {"command": "npx", "args": ["-y", "files"], "env": {"TOKEN": SECRET, "LATER": "${input:later}"}},
            "Web": {"url": "https://x.example.com/mcp"},
            "Broken": {"command": ["npx"]},
            "Nowhere": {},
        }
    }
    done = person.http.post(f"{SERVERS}/import", json=document, headers=ZH).json()["items"]
    assert [one["name"] for one in done] == ["Files", "Web", "Broken", "Nowhere"]
    assert [bool(one["id"]) for one in done] == [True, True, False, False]
    assert done[0]["missing"] == ["LATER"]
    assert "command" in done[2]["problem"]
    files = next(one for one in person.get(SERVERS)["items"] if one["name"] == "Files")
    assert files["env"] == {"TOKEN": True, "LATER": False}
    again = person.http.post(f"{SERVERS}/import", json=document).json()["items"]
    assert [one["id"] for one in again] == [None] * 4
    assert person.http.post(f"{SERVERS}/import", json={"servers": 7}).status_code == 422


def test_two_people_with_the_same_server_see_nothing_of_each_other(
    person: Person, running: RealService, remote: SmallServer
) -> None:
    owner = running.owner()
    other = owner.add_new("ben")
    mine = define(person, base_url=remote.url, headers={"X-Who": "ann"})
    theirs = define(other, base_url=remote.url, headers={"X-Who": "ben"})
    connect(person, mine)
    assert decide(person, mine, isEnabled=False).status_code == 200
    assert other.get(f"{SERVERS}/{theirs['id']}")["status"] == "disconnected"
    assert echo_of(other.get(f"{SERVERS}/{theirs['id']}/tools"))["isEnabled"] is True
    assert {headers["X-Who"] for headers in remote.seen} == {"ann", "ben"}
    for one in (owner, other):
        one.close()
