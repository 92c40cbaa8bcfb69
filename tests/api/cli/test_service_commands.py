"""The commands against the real service, as processes of their own."""

from __future__ import annotations

import json
import re
import signal
import socket
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest

from drive_server.connect import open_drive
from drive_server.kernel.settings import DriveSettings
from tests.api.cli.command import COMMAND, drive_agent, environment
from tests.api.cli.stdio import WHOAMI

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.service import Service

ESCAPE = "\x1b"
HANDBOOK = b"# Staff handbook\n\n## Parental leave\n\nEvery parent may take 16 weeks of paid parental leave.\n"


def test_serve_says_what_to_do_next_and_ends_cleanly(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, "serve", "--port", "0"],
        env=environment({"DRIVE_DATA_DIR": str(tmp_path / "data"), "TERM": "xterm-256color"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if "Ctrl-C" in line:
            break
    shown = "".join(lines)
    address = re.search(r"Open:    (http://127\.0\.0\.1:\d+)/login/\S+", shown)
    assert address, shown + process.communicate(timeout=5)[1]
    url = address[1]
    assert httpx.get(f"{url}/readyz").status_code == 200
    token = (tmp_path / "data" / "token").read_text().strip()
    assert token not in shown
    with httpx.Client() as browser:
        opened = browser.get(address[0].split()[1])
        assert (opened.status_code, opened.headers["location"]) == (303, "/")
        assert browser.get(f"{url}/api/auth/me").json()["email"] == "me@localhost"
        assert httpx.get(address[0].split()[1]).status_code == 404
    line = re.search(r"Try:     (.*)", shown)
    assert line
    assert f"DRIVE_DATA_DIR={tmp_path / 'data'} " in line[1]
    assert f' chat --url {url} "what can you do?"' in line[1]
    assert "offline model is in use" in shown
    assert "OPENAI_API_KEY" in shown
    assert ESCAPE not in shown

    second = drive_agent("serve", "--port", "0", settings={"DRIVE_DATA_DIR": str(tmp_path / "data")})
    assert (second.returncode, second.stdout) == (1, "")
    assert f"running already at {url} (process {process.pid})" in second.stderr

    with httpx.stream(
        "POST", f"{url}/api/chat", json={"message": "hello"}, headers={"Authorization": f"Bearer {token}"}
    ):
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=15)[1]
    assert process.returncode == 0
    assert "Traceback" not in err
    assert not (tmp_path / "data" / "service.json").exists()


def test_what_an_answer_cites_leads_to_where_the_service_listens(service: Service) -> None:
    owner = service.owner()
    owner.upload("Staff handbook.md", HANDBOOK)
    owner.close()
    assert service.run("index", "--rebuild").returncode == 0
    said = service.run("chat", "find the document about parental leave and summarise it", "--json")
    assert said.returncode == 0, said.stderr
    addresses = set(re.findall(r"http://127\.0\.0\.1:\d+/f/", said.stdout))
    assert addresses == {f"{service.url}/f/"}, said.stdout


def test_a_new_address_to_log_in_is_printed_for_the_running_service_alone(service: Service, tmp_path: Path) -> None:
    printed = service.run("login-link")
    assert printed.returncode == 0, printed.stderr
    url = printed.stdout.strip()
    assert url.startswith(f"{service.url}/login/")
    assert httpx.get(url).status_code == 303
    assert httpx.get(url).status_code == 404

    alone = drive_agent("login-link", settings={"DRIVE_DATA_DIR": str(tmp_path / "data")})
    assert (alone.returncode, alone.stdout) == (1, "")
    assert "No service runs" in alone.stderr


HOSTILE = """
DRIVE_DATA_DIR={elsewhere}
DRIVE_EMBEDDING_MODEL=evil
DRIVE_EMBEDDING_URL=http://127.0.0.1:9
DRIVE_LANGUAGE_URL=http://127.0.0.1:9
DRIVE_AGENT_URL=http://127.0.0.1:9
DRIVE_AGENT_TOKEN=dak_evil
DRIVE_API_KEY=dak_evil
OPENAI_API_KEY=evil
OPENAI_BASE_URL=http://127.0.0.1:9
AGENT_TOOL_RATE=nonsense
"""


def test_no_command_reads_a_file_of_the_folder_it_is_started_in(service: Service, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name in (".env", "drive-agent.env"):
        (tmp_path / name).write_text(HOSTILE.format(elsewhere=elsewhere))
    for line in (["mcp"], ["ls", "--json"], ["key", "list"], ["doctor"]):
        with subprocess.Popen(
            [COMMAND, *line],
            env=environment({"DRIVE_DATA_DIR": str(service.data_dir)}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        ) as process:
            if line == ["mcp"]:
                assert process.stdin
                assert process.stdout
                process.stdin.write("".join(f"{json.dumps(request)}\n" for request in WHOAMI))
                process.stdin.flush()
                process.stdout.readline()
                assert "me@localhost" in process.stdout.readline()
            out, err = process.communicate(timeout=60)
            assert process.returncode == 0, out + err
            assert "evil" not in out + err
    assert not elsewhere.exists()


def test_settings_come_from_the_data_directory_or_from_a_named_file(tmp_path: Path) -> None:
    data, named = tmp_path / "data", tmp_path / "named.env"
    data.mkdir(mode=0o700)
    (data / "drive-agent.env").write_text("AGENT_MODEL=of-the-directory\nOPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
    named.write_text(f"DRIVE_DATA_DIR={tmp_path / 'other'}\nAGENT_MODEL=of-the-file\n")

    found = drive_agent("doctor", settings={"DRIVE_DATA_DIR": str(data)})
    chosen = drive_agent("--config", str(named), "doctor")
    assert "of-the-file" in chosen.stdout, chosen.stderr
    assert str(tmp_path / "other") in chosen.stdout
    assert "of-the-directory at http://127.0.0.1:9/v1" in found.stdout, found.stderr


def test_a_model_whose_package_is_missing_is_a_sentence_with_the_command_that_installs_it(tmp_path: Path) -> None:
    settings = {"DRIVE_DATA_DIR": str(tmp_path / "data"), "AGENT_MODEL": "google_genai:gemini-2.5-flash"}
    result = drive_agent("serve", "--port", "0", settings=settings)
    assert (result.returncode, result.stdout) == (1, "")
    assert "pip install langchain langchain-google-genai" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("line", [["serve", "--port", "0"], ["ls"], ["mcp"], ["doctor"], ["chat", "hi"]])
def test_a_broken_configuration_file_is_a_sentence(tmp_path: Path, line: list[str]) -> None:
    (tmp_path / "drive-agent.env").write_text("AGENT_MODEL=x\n<<<<<<< HEAD\n")

    result = drive_agent(*line, settings={"DRIVE_DATA_DIR": str(tmp_path)})

    assert (result.returncode, result.stdout) == (1, "")
    assert f"Line 2 of {tmp_path / 'drive-agent.env'} is not of the form NAME=value." in result.stderr
    assert "Traceback" not in result.stderr


def test_a_named_file_that_is_missing_is_a_sentence(tmp_path: Path) -> None:
    result = drive_agent("ls", "--config", str(tmp_path / "none.env"))
    assert (result.returncode, result.stdout) == (1, "")
    assert "can't be read: No such file or directory." in result.stderr


async def test_data_of_a_newer_version_is_a_sentence(tmp_path: Path) -> None:
    settings = {"DRIVE_DATA_DIR": str(tmp_path / "data")}
    async with open_drive(DriveSettings(data_dir=tmp_path / "data", embedding_model="none")):
        pass
    with closing(sqlite3.connect(tmp_path / "data" / "drive.db")) as database, database:
        database.execute("update alembic_version set version_num = '9999'")
    for line in (["ls"], ["serve", "--port", "0"]):
        result = drive_agent(*line, settings=settings)
        assert (result.returncode, result.stdout) == (1, ""), result
        assert "The data directory was written by a newer version of Drive Agent." in result.stderr
        assert "Traceback" not in result.stderr


def test_a_port_in_use_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = drive_agent("serve", "--port", str(port), settings={"DRIVE_DATA_DIR": str(tmp_path)})
    assert (result.returncode, result.stdout) == (1, "")
    assert f"Can't listen on 127.0.0.1, port {port}: address already in use." in result.stderr


def test_without_a_service_commands_start_one_for_as_long_as_they_last(tmp_path: Path) -> None:
    settings = {"DRIVE_DATA_DIR": str(tmp_path / "data")}
    source = tmp_path / "source"
    source.mkdir()
    (source / "leave.md").write_text("Parents may take 16 weeks of leave.\n")
    imported = drive_agent("import", str(source), "--into", "/", settings=settings)
    assert imported.returncode == 0, imported.stderr
    found = drive_agent("search", "parental leave", "--json", settings=settings)
    assert [hit["file"]["name"] for hit in json.loads(found.stdout)] == ["leave.md"], found.stderr
    assert not (tmp_path / "data" / "service.json").exists()


def test_commands_at_the_same_time_share_one_service(tmp_path: Path) -> None:
    settings = {"DRIVE_DATA_DIR": str(tmp_path / "data")}
    line = [COMMAND, "ls", "--json"]
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(line, env=environment(settings), stdout=pipe, stderr=pipe, text=True) for _ in range(2)
    ]
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "[]\n"), err


def test_a_command_finds_the_running_service(service: Service) -> None:
    owner = service.owner()
    owner.folder("Seen over HTTP 📁")
    owner.close()
    result = service.run("ls")
    assert result.returncode == 0, result.stderr
    assert "Seen over HTTP 📁/" in result.stdout


def test_ls_lists_folders_and_files_by_path_and_by_id(service: Service) -> None:
    owner = service.owner()
    folder = owner.folder("列表 & 100%?#")
    file = owner.upload("a.txt", "x" * 1500, folder["id"])
    for ref in ("/列表 & 100%?#", folder["id"]):
        result = service.run("ls", ref)
        assert re.fullmatch(r" +1\.5 kB  \d{4}-\d\d-\d\d  a\.txt\n", result.stdout), result
    for ref in ("/列表 & 100%?#/a.txt", file["id"]):
        assert [item["id"] for item in json.loads(service.run("ls", ref, "--json").stdout)] == [file["id"]]
    missing = service.run("ls", "/nowhere")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "nowhere: there is no such item" in missing.stderr
    owner.close()


def test_a_key_is_made_used_listed_and_revoked(service: Service) -> None:
    created = service.run("key", "create", "笔记本 laptop", "--scope", "read", "--days", "30")
    secret = created.stdout.strip()
    assert created.returncode == 0, created.stderr
    assert re.fullmatch(r"dak_[\w-]+", secret)
    assert service.run("ls", "--token", secret).returncode == 0
    refused = service.run("user", "add", "eve@example.com", "--token", secret)
    assert refused.returncode == 1

    keys = json.loads(service.run("key", "list", "--json").stdout)
    key = next(key for key in keys if key["name"] == "笔记本 laptop")
    assert key["scopes"] == ["read"]
    assert key["expires_at"]
    assert secret not in json.dumps(keys)
    assert "笔记本 laptop" in service.run("key", "list").stdout

    assert service.run("key", "revoke", "笔记本 laptop").returncode == 0
    rejected = service.run("ls", "--token", secret)
    assert rejected.returncode == 1
    assert "--token" in rejected.stderr
    assert service.run("key", "revoke", "no such key").returncode == 1


def test_a_person_is_added_with_a_key_that_works(service: Service) -> None:
    added = service.run("user", "add", "carol@example.com")
    assert added.returncode == 0, added.stderr
    assert service.run("ls", "--token", added.stdout.strip()).returncode == 0
    again = service.run("user", "add", "carol@example.com")
    assert again.returncode == 1
    assert service.run("user", "add", "not an address").returncode == 1
    listed = json.loads(service.run("user", "list", "--json").stdout)
    assert ("carol@example.com", False) in [(user["email"], user["is_admin"]) for user in listed]
    assert "carol@example.com" in service.run("user", "list").stdout
    assert service.run("user", "list", "--token", added.stdout.strip()).returncode == 1


def test_a_person_is_disabled_put_into_a_group_and_removed(service: Service) -> None:
    key = service.run("user", "add", "gone@example.com").stdout.strip()
    assert service.run("user", "disable", "gone@example.com").returncode == 0
    assert "disabled" in service.run("ls", "--token", key).stderr
    assert "disabled" in service.run("user", "list").stdout
    assert service.run("user", "enable", "gone@example.com").returncode == 0
    made = service.run("group", "create", "Sales", "--member", "gone@example.com")
    assert made.stdout.strip() == "group:Sales"
    changed = service.run("group", "change", "Sales", "--name", "销售")
    assert changed.stdout.strip() == "销售: gone@example.com"
    refused = service.run("user", "remove", "gone@example.com", "--delete-files")
    assert (refused.returncode, "Nothing was removed." in refused.stderr) == (1, True)
    assert service.run("user", "remove", "gone@example.com", "--delete-files", "--yes").returncode == 0
    assert service.run("group", "list").stdout.strip() == "销售"
    assert service.run("group", "delete", "销售").returncode == 0
    assert service.run("user", "remove", "gone@example.com", "--delete-files", "--yes").returncode == 1


def test_an_administrator_gets_an_address_at_which_a_person_sets_a_password(service: Service) -> None:
    key = service.run("user", "add", "forgot@example.com").stdout.strip()
    reset = service.run("user", "reset-password", "forgot@example.com")
    url = reset.stdout.strip()
    assert (reset.returncode, "forgot@example.com" in reset.stderr) == (0, True)
    assert httpx.post(url, data={"password": "tulips in the rain"}).status_code == httpx.codes.SEE_OTHER
    assert httpx.get(url).status_code == httpx.codes.NOT_FOUND
    assert service.run("user", "reset-password", "forgot@example.com", "--token", key).returncode == 1
    assert service.run("user", "reset-password", "nobody@example.com").returncode == 1


def test_a_run_is_undone_after_a_preview(service: Service) -> None:
    done = service.run("chat", "create a folder Undone")
    assert done.returncode == 0, done.stderr
    run_id = re.search(r"drive-agent undo (\S+)", done.stderr)
    assert run_id, done
    assert "Undone/" in service.run("ls").stdout
    unanswered = service.run("undo", run_id[1])
    assert unanswered.returncode == 1
    assert "Undone/" in service.run("ls").stdout
    assert "Undone" in unanswered.stdout
    assert service.run("undo", run_id[1], stdin="n\n").returncode == 0
    assert "Undone/" in service.run("ls").stdout
    undone = service.run("undo", run_id[1], stdin="y\n")
    assert undone.returncode == 0, undone.stderr
    assert "Undone/" not in service.run("ls").stdout
    assert service.run("undo", "no-such-run", "--yes").returncode == 1


def test_a_run_a_conversation_and_one_change_are_undone_and_redone(service: Service) -> None:
    def folders() -> list[str]:
        return [name for name in service.run("ls").stdout.split() if name.startswith("Back")]

    def done(*arguments: str) -> str:
        ended = service.run(*arguments, "--yes")
        assert ended.returncode == 0, ended.stderr
        command = re.search(r"drive-agent (undo|redo) --change (\d+)", ended.stdout)
        assert command, ended.stdout
        return command[2]

    runs: list[str] = []
    for name in ("Back1", "Back2", "Back3"):
        talk = service.run("chat", *(["--continue"] if runs else []), f"create a folder {name}")
        runs += re.findall(r"drive-agent undo (\S+)", talk.stderr)
    with closing(service.owner()) as owner:
        thread_id = owner.get(f"/api/runs/{runs[0]}")["thread_id"]

    done("undo", runs[2])
    assert folders() == ["Back1/", "Back2/"]
    done("redo", runs[2])
    assert folders() == ["Back1/", "Back2/", "Back3/"]
    assert service.run("redo", runs[2]).returncode == 1
    number = done("undo", "--thread", thread_id, "--since", runs[1])
    assert folders() == ["Back1/"]
    asked = service.run("redo", "--change", number, stdin="n\n")
    assert "This would be done again:" in asked.stdout
    assert folders() == ["Back1/"]
    number = done("redo", "--change", number)
    assert folders() == ["Back1/", "Back2/", "Back3/"]
    done("undo", "--change", number)
    done("undo", "--thread", thread_id)
    assert folders() == []
    refused = service.run("undo", runs[0], "--since", runs[0])
    assert (refused.returncode, "--since goes with --thread" in refused.stderr) == (1, True)


def test_the_audit_of_a_run_names_its_calls_and_changes(service: Service) -> None:
    done = service.run("chat", "create a folder Audited")
    run_id = re.search(r"drive-agent undo (\S+)", done.stderr)
    assert run_id, done
    assert "Created the folder 'Audited'" in done.stderr
    told = service.run("audit", run_id[1])
    assert told.returncode == 0, told.stderr
    assert f"Run {run_id[1]} (attended): success, by me@localhost" in told.stdout
    assert "create_folder" in told.stdout
    assert "Created the folder 'Audited'" in told.stdout
    audit = json.loads(service.run("audit", run_id[1], "--json").stdout)
    assert [call["tool"] for call in audit["calls"]] == ["create_folder"]
    missing = service.run("audit", "no-such-run")
    assert (missing.returncode, missing.stdout) == (1, "")


def test_the_index_says_how_far_it_is_and_can_be_rebuilt(service: Service) -> None:
    owner = service.owner()
    owner.upload("picture of nothing.png", b"\x89PNG\r\n\x1a\n")
    owner.close()
    rebuilt = service.run("index", "--rebuild")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert "picture of nothing.png" in rebuilt.stdout
    status = json.loads(service.run("index", "--status", "--json").stdout)
    assert not status["counts"].get("pending")


def test_an_index_with_damaged_files_is_rebuilt_by_the_command(service: Service) -> None:
    owner = service.owner()
    owner.upload("Wombats.md", b"Wombats dig burrows.")
    owner.close()
    assert service.run("index", "--rebuild").returncode == 0
    files = [*(service.data_dir / "index").glob("*.lance/data/*")]
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert files
    rebuilt = service.run("index", "--rebuild")
    assert (rebuilt.returncode, "Traceback" in rebuilt.stderr) == (0, False), rebuilt.stderr
    assert "Wombats dig burrows." in service.run("search", "wombats burrows").stdout
    assert json.loads(service.run("index", "--status", "--json").stdout)["health"] == "ok"


def test_the_doctor_finds_nothing_wrong_and_says_what_is(service: Service, tmp_path: Path) -> None:
    healthy = service.run("doctor")
    assert healthy.returncode == 0, healthy.stdout
    assert f"runs at {service.url}" in healthy.stdout
    assert "fail" not in healthy.stdout
    checks = json.loads(service.run("doctor", "--json").stdout)
    assert {"python", "data directory", "access token", "model", "service", "disk"} <= {
        check["name"] for check in checks
    }
    (tmp_path / "file").write_text("")
    broken = drive_agent("doctor", settings={"DRIVE_DATA_DIR": str(tmp_path / "file")})
    assert broken.returncode == 1
    assert "fail  data directory" in broken.stdout
    assert "checks failed" in broken.stderr


def test_chat_remembers_and_streams_from_the_real_assistant(service: Service) -> None:
    result = service.run("chat", "创建文件夹 季度报告")
    assert result.returncode == 0, result.stderr
    assert "create_folder(" in result.stdout
    assert ESCAPE not in result.stdout + result.stderr


def test_a_deletion_is_asked_and_a_no_keeps_everything(service: Service) -> None:
    owner = service.owner()
    old = owner.folder("Old")
    owner.upload("a.txt", "a", old["id"])
    rejected = service.run("chat", "delete everything in Old", "--yes-to", "write", stdin="n\n")
    assert rejected.returncode == 0, rejected.stderr
    assert "risk: delete, can be undone" in rejected.stdout
    assert owner.names(old["id"]) == ["a.txt"]
    unanswered = service.run("chat", "delete everything in Old")
    assert unanswered.returncode == 1
    assert owner.names(old["id"]) == ["a.txt"]
    approved = service.run("chat", "delete everything in Old", stdin="y\n")
    assert approved.returncode == 0, approved.stderr
    assert owner.names(old["id"]) == []
    owner.close()
