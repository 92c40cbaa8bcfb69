from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.cli.command import drive_agent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.api.cli.files.conftest import Shell
    from tests.e2e.person import Person
    from tests.e2e.service import Service


def paths(alice: Person, ref: str = "root", above: str = "") -> set[str]:
    found: set[str] = set()
    for item in alice.children(ref):
        path = f"{above}/{item['name']}"
        found.add(path)
        if item["kind"] == "folder":
            found |= paths(alice, item["id"], path)
    return found


def test_folders_are_made_with_those_above_them(shell: Shell, alice: Person) -> None:
    refused = shell("mkdir", "/a/b")
    shell.done("mkdir", "-p", "/a/b", "/a/c")
    shell.done("mkdir", "-p", "/a/b")

    assert refused.code == 1
    assert refused.err.startswith("drive-agent: The folder /a is not there.\n")
    assert refused.err.splitlines()[-1].endswith(" mkdir -p /a/b")
    assert shell("mkdir", "/a").err.startswith("drive-agent: /a is there already.")
    assert paths(alice) == {"/a", "/a/b", "/a/c"}


def test_items_are_renamed_moved_and_copied(shell: Shell, alice: Person) -> None:
    alice.folder("Done")
    alice.upload("a.txt", "a")
    alice.upload("b.txt", "b")

    assert shell.done("mv", "/a.txt", "/c.txt").out == "/a.txt -> /c.txt\n"
    shell.done("cp", "/c.txt", "/Done/d.txt")
    shell.done("mv", "/*.txt", "/Done")
    copied = shell.done("cp", "-r", "/Done", "/Copy", "--json").json

    assert copied[0]["path"] == "/Copy"
    inside = {"b.txt", "c.txt", "d.txt"}
    assert paths(alice) == {"/Done", "/Copy"} | {f"/{top}/{name}" for top in ("Done", "Copy") for name in inside}


def test_a_taken_name_is_said_with_what_to_add(shell: Shell, alice: Person) -> None:
    alice.upload("a.txt", "a")
    alice.upload("b.txt", "b")

    refused = shell("mv", "/a.txt", "/b.txt")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "drive-agent: /b.txt is there already.\nAdd --on-conflict replace, or --on-conflict rename.\n"
    shell.done("mv", "/a.txt", "/b.txt", "--on-conflict", "rename")
    assert paths(alice) == {"/b.txt", "/b (2).txt"}


def test_one_of_several_that_can_not_be_moved_leaves_the_others_moved(shell: Shell, alice: Person) -> None:
    folder = alice.folder("Done")
    alice.upload("a.txt", "there", folder["id"])
    alice.upload("a.txt", "a")
    alice.upload("b.txt", "b")

    shown = shell("mv", "/a.txt", "/b.txt", "/Done")

    assert (shown.code, shown.out) == (1, "/b.txt -> /Done/b.txt\n")
    assert shown.err.splitlines()[0].startswith("/a.txt: ")
    assert paths(alice) == {"/Done", "/Done/a.txt", "/Done/b.txt", "/a.txt"}


def test_what_is_removed_goes_to_the_trash_and_comes_back(shell: Shell, alice: Person) -> None:
    item = alice.upload("a.txt", "a")
    alice.upload("b.txt", "b")

    removed = shell.done("rm", "/a.txt", "/b.txt")
    assert removed.out == "In the trash: /a.txt\nIn the trash: /b.txt\n"
    assert f"trash restore {item['id']}" in removed.err
    assert sorted(entry["name"] for entry in shell.done("trash", "list", "--json").json) == ["a.txt", "b.txt"]
    assert shell.done("trash", "restore", "/a.txt").out == "Back: /a.txt\n"
    assert shell("trash", "restore", "/a.txt").err.startswith("drive-agent: /a.txt is not in the trash.")
    assert paths(alice) == {"/a.txt"}


def test_nothing_is_deleted_for_good_without_a_yes(shell: Shell, alice: Person) -> None:
    alice.upload("a.txt", "a")
    alice.upload("b.txt", "b")
    shell.done("rm", "/a.txt", "/b.txt")

    unanswered = shell("trash", "empty")
    assert unanswered.code == 1
    assert "Use --yes." in unanswered.err
    assert "Nothing was changed." in shell.done("trash", "empty", stdin=b"n\n").out
    assert shell.done("trash", "delete", "a.txt", stdin=b"y\n").out.endswith("Deleted for good: 1.\n")
    assert shell.done("trash", "empty", "--yes").out == "Deleted for good: 1.\n"
    assert shell.done("trash", "empty", "--yes").out == "The trash is empty.\n"


def test_versions_are_listed_fetched_compared_and_brought_back(shell: Shell, alice: Person) -> None:
    (shell.folder / "a.txt").write_text("one\n")
    shell.done("put", "a.txt")
    (shell.folder / "a.txt").write_text("one\ntwo\n")
    shell.done("put", "a.txt", "--on-conflict", "replace")

    assert [version["number"] for version in shell.done("versions", "list", "/a.txt", "--json").json] == [2, 1]
    assert "+two" in shell.done("versions", "diff", "/a.txt", "1").out.splitlines()
    assert shell.done("versions", "get", "/a.txt", "1", "-").out == "one\n"
    shell.done("versions", "get", "/a.txt", "1", "first.txt")
    assert (shell.folder / "first.txt").read_text() == "one\n"
    shell.done("versions", "restore", "/a.txt", "1")
    assert shell.done("cat", "/a.txt").out == "one\n"
    assert shell("versions", "list", "/").err.startswith("drive-agent: / is a folder, and has no content.")
    assert alice.children()[0]["version"] == 3


def test_an_item_is_shared_with_a_person_in_another_role_and_no_more(
    shell: Shell, service: Service, alice: Person
) -> None:
    bob = service.add_new("bob")
    alice.folder("Team")

    assert "Nobody else" in shell.done("share", "/Team").err
    assert shell.done("share", "/Team", bob.email, "--role", "editor").out == f"{bob.email} is editor of /Team.\n"
    assert shell.done("share", "/Team", bob.email).out == f"{bob.email} is editor of /Team.\n"
    shell.done("share", "/Team", bob.email, "--role", "viewer")
    assert [entry["role"] for entry in shell.done("share", "/Team", "--json").json] == ["viewer"]
    shell.done("share", "/Team", bob.email, "--remove")
    assert shell.done("share", "/Team", "--json").json == []
    bob.close()


@pytest.mark.parametrize("language", ["en_US.UTF-8", "zh_CN.UTF-8"])
def test_a_share_with_an_address_without_an_account_says_so_before(
    shell: Shell, alice: Person, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("LC_ALL", language)
    alice.folder("My Team")
    done = shell.done("share", "/My Team", "nobody@example.com")
    told = ("Nobody has an account with nobody@example.com here", "nobody@example.com 在这里没有账户")
    assert told[language.startswith("zh")] in done.err
    assert "drive-agent link '/My Team'" in done.err
    assert "account" not in shell.done("share", "/My Team", "nobody@example.com", "--remove").err


def test_a_link_has_terms_that_change_and_it_ends(shell: Shell, alice: Person) -> None:
    item = alice.upload("a.txt", "a")

    made: dict[str, Any] = shell.done(
        "link", "/a.txt", "--expires", "7d", "--password", "--json", stdin=b"longsecret\n"
    ).json
    assert made["has_password"]
    assert made["expires_at"]
    url = shell.done("link", item["id"], "--max-downloads", "3").out.strip()
    assert url.startswith(str(alice.http.base_url.join("/s/")))
    shell.done("link", "/a.txt", "--change", made["id"], "--role", "editor")
    links = {entry["id"]: entry for entry in shell.done("link", "/a.txt", "--list", "--json").json}
    assert links[made["id"]]["role"] == "editor"
    for number in links:
        shell.done("link", "/a.txt", "--remove", number)
    assert shell.done("link", "/a.txt", "--list", "--json").json == []


def test_a_tree_and_the_room_that_folders_take(shell: Shell, alice: Person) -> None:
    top = alice.folder("Top")
    sub = alice.folder("Sub", top["id"])
    alice.upload("a.txt", "12345", top["id"])
    alice.upload("b.txt", "123", sub["id"])

    assert shell.done("tree", "/Top").out.splitlines() == ["/Top", "├── Sub/", "│   └── b.txt", "└── a.txt"]
    assert shell.done("tree", "/", "--depth", "1").out.splitlines() == ["/", "└── Top/ …"]
    usage = shell.done("du", "/Top", "--json").json
    assert usage == [{"path": "/Top/Sub", "size": 3, "files": 1}, {"path": "/Top", "size": 8, "files": 2}]


def test_names_with_terminal_escapes_are_shown_as_what_they_are(shell: Shell, alice: Person) -> None:
    folder = alice.folder("Odd")
    name = "report\u200bgpj.exe"
    alice.upload(name, "x", folder["id"])

    for command in (["tree", "/Odd"], ["ls", "/Odd"], ["rm", "/Odd/*"], ["trash", "list"]):
        shown = shell.done(*command)
        assert "\x1b" not in shown.out + shown.err


def test_open_prints_the_address_where_there_is_no_display(
    shell: Shell, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(variable, raising=False)
    item = alice.upload("a.txt", "a")

    assert shell.done("open", "/a.txt").out == f"{alice.http.base_url.join('/f/')}{item['id']}\n"
    once = shell.done("open").out.strip()
    assert "/login/" in once


def test_open_opens_a_browser_where_there_is_one(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")

    def open_page(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", open_page)

    assert shell.done("open").out == ""
    assert len(opened) == 1


def test_sentences_are_in_the_language_of_the_terminal(shell: Shell) -> None:
    shell.speaks("zh_CN.UTF-8")

    shown = shell("get", "/没有")

    assert shown.code == 1
    assert shown.err.startswith("drive-agent: /没有：没有这一项，或者它没有共享给你。\n试试：")


def test_threads_are_listed_shown_renamed_and_deleted(shell: Shell) -> None:
    shell.done("chat", "-", stdin=b"what can you do?")
    thread = shell.done("threads", "list", "--json").json[0]
    shell.done("chat", "--continue", "hi")

    assert [entry["thread_id"] for entry in shell.done("threads", "list", "--json").json] == [thread["thread_id"]]
    shown = shell.done("threads", "show", thread["thread_id"]).out
    assert "you:\nwhat can you do?\n" in shown
    assert "you:\nhi\n" in shown
    shell.done("threads", "rename", thread["thread_id"], "Abilities")
    assert "Abilities" in shell.done("threads", "list").out
    shell.done("threads", "delete", thread["thread_id"], "--yes")
    assert shell.done("threads", "list", "--json").json == []


def test_threads_are_found_by_their_words_and_exported(shell: Shell) -> None:
    shell.done("chat", "-", stdin=b"what can you do about giraffes?")

    found = shell.done("threads", "search", "giraffes", "--json").json
    assert len(found) == 1
    assert shell.done("threads", "search", "elephants", "--json").json == []
    assert "what can you do about giraffes?" in shell.done("threads", "export", found[0]["thread_id"]).out
    shell.done("threads", "export", found[0]["thread_id"], "thread.json", "--format", "json")
    assert json.loads((shell.folder / "thread.json").read_text())["thread_id"] == found[0]["thread_id"]
    refused = shell("threads", "export", found[0]["thread_id"], "thread.json")
    assert refused.err.startswith("drive-agent: thread.json is there already.")


def test_chat_with_an_empty_pipe_says_so(shell: Shell) -> None:
    assert shell("chat", "-", stdin=b" \n").err.startswith("drive-agent: Standard input is empty.")


def test_the_line_to_try_has_the_data_folder_and_the_port_as_they_were_given(tmp_path: Path) -> None:
    shown = drive_agent("ls", "--url", "http://127.0.0.1:9", settings={"DRIVE_DATA_DIR": str(tmp_path)})
    assert shown.returncode == 1
    assert (
        shown.stderr.splitlines()[0] == "drive-agent: The local access token can't be read (No such file or directory)."
    )

    (tmp_path / "token").write_text("t")
    shown = drive_agent(
        "ls", "--url", "http://127.0.0.1:9", settings={"DRIVE_DATA_DIR": str(tmp_path), "LANG": "zh_CN"}
    )
    assert shown.stderr.splitlines()[0] == "drive-agent: 无法连接到服务。"
    assert shown.stderr.splitlines()[-1].startswith(f"试试：DRIVE_DATA_DIR={tmp_path} ")
    assert shown.stderr.splitlines()[-1].endswith(" serve --port 9")


@pytest.fixture
def shared(service: Service, alice: Person) -> Iterator[Person]:
    """Somebody who shares a folder with one to change, with a file in it, with Alice."""
    bob = service.add_new("bob")
    folder = bob.folder("Plans")
    bob.upload("a.txt", "by Bob", folder["id"])
    share = {"email": alice.email, "role": "editor"}
    assert bob.http.post(f"/api/drive/items/{folder['id']}/shares", json=share).is_success
    yield bob
    bob.close()


def test_what_others_share_is_a_folder_beside_the_own_ones(shell: Shell, alice: Person) -> None:
    alice.folder("Own")
    assert [item["name"] for item in shell.done("ls", "/", "--json").json] == ["Own"]
    assert shell("ls", "/Shared with me").code == 1


@pytest.mark.usefixtures("shared")
def test_paths_below_what_others_share_can_be_used_everywhere(shell: Shell, alice: Person) -> None:
    alice.folder("Own")
    (shell.folder / "b.txt").write_text("b")
    (shell.folder / "more").mkdir()
    (shell.folder / "more" / "c.txt").write_text("c")

    assert [item["path"] for item in shell.done("ls", "--json").json] == ["/Own", "/Shared with me"]
    assert [item["path"] for item in shell.done("ls", "Shared with me", "--json").json] == ["/Shared with me/Plans"]
    assert shell.done("cat", "/Shared with me/Plans/a.txt").out == "by Bob"
    assert shell.done("cat", "/Shared with me/*/a.txt").out == "by Bob"
    shell.done("put", "b.txt", "/Shared with me/Plans")
    shell.done("mkdir", "-p", "/Shared with me/Plans/deep/er")
    shell.done("import", "more", "--into", "/Shared with me/Plans/new/more")
    shell.done("get", "-r", "/Shared with me", "got")
    got = {path.relative_to(shell.folder).as_posix() for path in (shell.folder / "got").rglob("*.txt")}
    assert got == {"got/Plans/a.txt", "got/Plans/b.txt", "got/Plans/new/more/c.txt"}
    assert paths(alice) == {"/Own"}


@pytest.mark.usefixtures("shared")
def test_nothing_is_put_beside_what_others_share(shell: Shell, alice: Person) -> None:
    (shell.folder / "b.txt").write_text("b")
    (shell.folder / "more").mkdir()
    for words in (
        ("put", "b.txt", "/Shared with me"),
        ("mkdir", "/Shared with me/x"),
        ("import", "more", "--into", "/Shared with me/x/y"),
    ):
        refused = shell(*words)
        assert (refused.code, "holds what others share" in refused.err) == (1, True), words
    assert paths(alice) == set()


def test_a_person_leaves_what_was_shared_with_them(shell: Shell, alice: Person, shared: Person) -> None:
    assert shell("share", "/Shared with me/Plans/a.txt", "--leave").code == 1
    left = shell.done("share", "/Shared with me/Plans", "--leave")
    assert left.out == "You left /Shared with me/Plans, which was shared with you.\n"
    assert shell.done("ls", "/", "--json").json == []
    assert shared.names() == ["Plans"]
    newest = max(change["id"] for change in alice.get("/api/drive/changes")["changes"])
    shell.done("undo", "--change", str(newest), "--yes")
    assert [item["name"] for item in shell.done("ls", "/Shared with me", "--json").json] == ["Plans"]
