"""A drive is exported over HTTP, checked, and imported into an empty one: the same hashes and rights."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from api.cli import main
from api.cli.exports.contents import Contents
from api.cli.exports.format.manifest import MANIFEST, STATE, SUMS
from benchmarks.fixtures.whole_drive import OLD, fill, fill_at_once, thread
from tests.api.cli.command import environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.person import Person
    from tests.e2e.service import Service

FILES = 300
OF_VERSION = ("number", "sha256", "media_type", "created_at", "modified_at")


@pytest.fixture(scope="module")
def carol(service: Service) -> Iterator[Person]:
    with closing(service.add_new("carol")) as person:
        yield person


@pytest.fixture(scope="module")
def source(service: Service, carol: Person) -> Iterator[Person]:
    """Somebody whose drive has something of everything."""
    with closing(service.add_new("source")) as person:
        fill_at_once(person.http, FILES, [carol.email])
        fill(person.http, 15, [carol.email], threads=3)
        yield person


@pytest.fixture(scope="module")
def exported(service: Service, source: Person, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("exports") / "export"
    assert run(service, source, "export", str(target)) == 0
    return target


def run(service: Service, person: Person, *arguments: str) -> int:
    return main([*arguments, "--url", service.url, "--token", person.token])


def killed(service: Service, person: Person, target: str, number: int, *arguments: str) -> None:
    """Run a command whose process is killed at a call of one of its functions."""
    program = [sys.executable, "-m", "tests.api.cli.killed_command", target, str(number), *arguments]
    address = ["--url", service.url, "--token", person.token]
    run = subprocess.run([*program, *address], env=environment(), capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr


def whole(person: Person) -> list[dict[str, Any]]:
    """Return the whole drive, as an export lists it."""
    items: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = person.get("/api/drive/export", limit="500", **cursor)
        items += page["items"]
        if page["cursor"] is None:
            return items
        cursor = {"cursor": page["cursor"]}


def facts(items: list[dict[str, Any]]) -> list[Any]:
    """Return what has to be the same in two drives, by the paths of the items."""
    by_id = {item["id"]: item for item in items}

    def path(item: dict[str, Any]) -> str:
        parent = by_id.get(item["parent_id"])
        return f"{path(parent) if parent else ''}/{item['name']}"

    return sorted(
        [
            path(item),
            item["kind"],
            item["created_at"],
            item["updated_at"],
            item["modified_at"],
            bool(item["starred_at"]),
            bool(item["trash_id"]),
            [[version[name] for name in OF_VERSION] for version in item["versions"]],
            [[share["email"], share["role"]] for share in item["shares"]],
            [[link["role"], link["max_downloads"], link["expires_at"]] for link in item["links"]],
        ]
        for item in items
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_export_imports_into_an_empty_drive_with_the_same_hashes_and_rights(
    service: Service, source: Person, carol: Person, exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("target")) as target:
        assert run(service, target, "import", str(exported)) == 0
        assert "Checked: names, folders, versions, hashes" in capsys.readouterr().out
        restored = whole(target)
        assert len(restored) > FILES
        assert facts(restored) == facts(whole(source))

        seen = {item["id"]: item["role"] for item in shared_with(carol, target)}
        given = {item["id"]: share["role"] for item in restored for share in item["shares"] if not item["trash_id"]}
        assert seen == given
        link = next(item for item in restored if item["links"] and not item["trash_id"])
        address = target.get(f"/api/drive/items/{link['id']}/shares")["shares"][-1]["url"]
        token = address.rpartition("/s/")[2]
        opened = target.http.get(f"/api/links/{token}", headers={"Authorization": ""})
        assert opened.json()["name"] == link["name"]
        threads = [target.get(f"/api/threads/{one['thread_id']}") for one in target.get("/api/threads")["items"]]
        assert sorted(one["title"] for one in threads) == [f"Report {number}: CON/a?" for number in range(3)]
        assert [one["role"] for one in threads[0]["messages"]] == ["user", "assistant", "tool", "assistant"]


def shared_with(person: Person, owner: Person) -> list[dict[str, Any]]:
    items = person.get("/api/drive/shared", limit="1000")["items"]
    return [item for item in items if item["owner"] == owner.email]


def test_an_export_is_a_readable_tree_with_a_manifest_and_hashes(source: Person, exported: Path) -> None:
    manifest = json.loads((exported / MANIFEST).read_text())
    items = {item["id"]: item for item in whole(source)}

    assert (manifest["format"], manifest["schema_version"]) == ("drive-agent export", 1)
    assert manifest["owner"] == source.email
    assert {item["id"] for item in manifest["items"]} == items.keys()
    for item in manifest["items"]:
        assert {name: item[name] for name in ("name", "parent_id", "created_at")} == {
            name: items[item["id"]][name] for name in ("name", "parent_id", "created_at")
        }
        for version in item["versions"]:
            assert digest(exported / version["path"]) == version["sha256"]
        if item["versions"]:
            assert item["path"] == item["versions"][-1]["path"]
            own = datetime.fromisoformat(item["modified_at"]).timestamp()
            assert (exported / item["path"]).stat().st_mtime == pytest.approx(own)
    assert len({item["modified_at"] for item in manifest["items"]} & {OLD}) == 1
    listed = {line.split("  ", 1)[1]: line[:64] for line in (exported / SUMS).read_text().splitlines()}
    files = {path.relative_to(exported).as_posix() for path in exported.rglob("*") if path.is_file()}
    assert listed.keys() == files - {SUMS}
    assert all(digest(exported / path) == sha256 for path, sha256 in listed.items())
    text = next(exported.glob("Threads/*.md")).read_text()
    assert "There is no report" in text
    assert not any(source.token in path.read_text(errors="ignore") for path in exported.rglob("*.json"))


def test_a_second_export_fetches_only_what_changed_and_removes_what_is_gone(
    service: Service, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del exported
    with closing(service.add_new("twice")) as person:
        fill_at_once(person.http, 20, ["x@example.com"])
        assert run(service, person, "export", str(tmp_path / "e")) == 0
        first = json.loads((tmp_path / "e" / MANIFEST).read_text())
        moved = next(item for item in whole(person) if item["kind"] == "file" and not item["trash_id"])
        person.http.patch(f"/api/drive/items/{moved['id']}", json={"name": "renamed.txt"}).raise_for_status()
        person.upload("new.md", "new")
        fetched: list[str] = []
        fetch = Contents._fetch  # pyright: ignore[reportPrivateUsage] - what is counted

        def counted(self: Contents, draft: Path, sha256: str, size: int) -> None:
            fetched.append(sha256)
            fetch(self, draft, sha256, size)

        monkeypatch.setattr(Contents, "_fetch", counted)
        assert run(service, person, "export", str(tmp_path / "e")) == 0
        assert run(service, person, "export", "--verify", str(tmp_path / "e")) == 0

    second = json.loads((tmp_path / "e" / MANIFEST).read_text())
    assert fetched == [hashlib.sha256(b"new").hexdigest()]
    assert second["export_id"] == first["export_id"]
    paths = {path.name for path in (tmp_path / "e").rglob("*")}
    assert {"renamed.txt", "new.md"} <= paths
    assert moved["name"] not in {item["name"] for item in second["items"] if item["id"] == moved["id"]}


@pytest.mark.story
def test_an_export_that_was_killed_is_none_and_goes_on_with_the_next_run(
    service: Service, source: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "e"
    killed(service, source, "api.cli.exports.contents:Contents.put", 200, "export", str(target))

    assert not (target / MANIFEST).exists()
    assert run(service, source, "export", "--verify", str(target)) == 1
    assert "or not a whole one" in capsys.readouterr().err
    assert run(service, source, "export", str(target)) == 0
    before = int(capsys.readouterr().out.partition(" contents were there already")[0].rpartition("\n")[2])
    assert before > 100
    assert run(service, source, "export", "--verify", str(target)) == 0


@pytest.mark.story
def test_an_import_that_was_killed_goes_on_and_makes_nothing_twice(
    service: Service, source: Person, exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("killed")) as target:
        killed(service, target, "api.cli.exports.batches:Sender._send", 3, "import", str(exported))
        begun = len(whole(target))
        assert 0 < begun < FILES
        assert run(service, target, "import", str(exported)) == 0
        assert f"{begun} were there already" in capsys.readouterr().out
        assert run(service, target, "import", str(exported)) == 0
        assert facts(whole(target)) == facts(whole(source))
        assert len(target.get("/api/threads")["items"]) == 3


def test_a_zip_file_is_an_export_too(service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(service.add_new("zip")) as person, closing(service.add_new("unzip")) as other:
        fill_at_once(person.http, 12, ["x@example.com"])
        target = tmp_path / "drive.zip"
        assert run(service, person, "export", str(target)) == 0
        assert run(service, person, "export", str(target)) == 0
        assert "contents were there already" in capsys.readouterr().out
        assert run(service, person, "export", "--verify", str(target)) == 0
        assert run(service, other, "import", str(target), "--into", "/From elsewhere") == 0
        assert [path.name for path in tmp_path.iterdir()] == ["drive.zip"]
        assert other.names() == ["From elsewhere"]
        assert len(whole(other)) == len(whole(person)) + 1


@pytest.mark.parametrize("harm", ["changed", "missing", "manifest"])
def test_damage_of_an_export_is_found(
    service: Service, tmp_path: Path, harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("harm")) as person:
        person.upload("plan.md", "plan")
        target = tmp_path / "e"
        run(service, person, "export", str(target))
        file = target / "Files" / "plan.md"
        if harm == "changed":
            file.write_text("plot")
        elif harm == "missing":
            file.unlink()
        else:
            manifest = (target / MANIFEST).read_text()
            (target / MANIFEST).write_text(manifest.replace(hashlib.sha256(b"plan").hexdigest(), "0" * 64))
        assert run(service, person, "export", "--verify", str(target)) == 1
    assert "The export is damaged" in capsys.readouterr().err


def test_an_import_says_what_is_damaged_and_restores_the_rest(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("from")) as person, closing(service.add_new("to")) as other:
        for name in ("a.md", "b.md", "c.md"):
            person.upload(name, name)
        target = tmp_path / "e"
        run(service, person, "export", str(target))
        (target / "Files" / "b.md").write_text("?.md")
        assert run(service, other, "import", str(target)) == 1
        shown = capsys.readouterr()
        assert "b.md: " in shown.out
        assert "The import is not whole: 1 problems" in shown.err
        assert other.names() == ["a.md", "c.md"]


def test_administrators_share_with_people_who_are_here_and_the_others_are_named(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("sharer")) as person, closing(service.owner()) as owner:
        folder = person.folder("shared by import")
        here = service.add_new("here")
        for email in (here.email, "nobody@example.com"):
            body = {"email": email, "role": "viewer"}
            person.http.post(f"/api/drive/items/{folder['id']}/shares", json=body).raise_for_status()
        here.close()
        run(service, person, "export", str(tmp_path / "e"))
        assert run(service, owner, "import", str(tmp_path / "e"), "--into", "/imported for sharing") == 0
        assert "nobody@example.com: nobody here has this address" in capsys.readouterr().out
        restored = next(item for item in whole(owner) if item["name"] == "shared by import")
        assert [share["email"] for share in restored["shares"]] == [here.email]


def test_links_with_a_password_and_over_are_named_and_the_import_is_whole_without_them(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("linker")) as person, closing(service.add_new("linked")) as other:
        shares = f"/api/drive/items/{person.upload('plan.md', 'plan')['id']}/shares"
        for terms in ({"password": "a long password"}, {"max_downloads": 3}):
            person.http.post(shares, json=terms).raise_for_status()
        run(service, person, "export", str(tmp_path / "e"))
        assert run(service, other, "import", str(tmp_path / "e")) == 0
        assert "plan.md: link: the link had a password" in capsys.readouterr().out
        assert [link["max_downloads"] for link in whole(other)[0]["links"]] == [3]
        assert "a long password" not in (tmp_path / "e" / MANIFEST).read_text()


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ('{"format": "drive-agent export", "schema_version": 2}', "This export has the schema version 2"),
        ('{"format": "another"}', "This is no export"),
        ("[]", "This is no export"),
        ("", "This is no export"),
    ],
)
def test_what_is_no_export_of_this_version_is_refused(
    service: Service, alice: Person, tmp_path: Path, manifest: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / MANIFEST).write_text(manifest)
    assert run(service, alice, "export", "--verify", str(tmp_path)) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("manifest", ['{"format": "drive-agent export", "schema_version": 2}', None])
def test_an_export_that_can_not_be_read_is_not_imported_as_a_folder(
    service: Service, alice: Person, tmp_path: Path, manifest: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / (MANIFEST if manifest else STATE)).write_text(manifest or "{}")
    assert run(service, alice, "import", str(tmp_path)) == 1
    assert "export" in capsys.readouterr().err
    assert alice.names() == []


def test_an_export_does_not_go_into_a_folder_with_something_else(
    service: Service, alice: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert run(service, alice, "export", str(tmp_path)) == 1
    assert "something else" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_manifest_that_was_laid_out_anew_is_read_as_well(service: Service, exported: Path, tmp_path: Path) -> None:
    with closing(service.add_new("layout")) as person, closing(service.add_new("laid-out")) as other:
        person.upload("plan.md", "plan")
        target = tmp_path / "e"
        run(service, person, "export", str(target))
        document = json.loads((target / MANIFEST).read_text())
        for indent in (2, None):
            (target / MANIFEST).write_text(json.dumps(document, indent=indent))
            assert run(service, other, "import", str(target)) == 0
        assert other.names() == ["plan.md"]
    assert exported.exists()


def remembered(person: Person) -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = person.get("/api/memories")["items"]
    return sorted(facts, key=lambda fact: fact["text"])


def fact(number: str, text: str, **source: Any) -> dict[str, Any]:
    at = "2026-01-01T00:00:00Z"
    return {"id": number, "text": text, "source": {"kind": "said"} | source, "created_at": at, "updated_at": at}


def test_what_was_remembered_comes_in_once_and_lives_with_the_restored_file_it_is_from(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("remembers")) as person, closing(service.add_new("remembers-too")) as other:
        file = person.upload("contract.md", "ends in March")
        person.http.post("/api/threads/import", json=thread(0)).raise_for_status()
        talk = person.get("/api/threads")["items"][0]["thread_id"]
        items = [
            fact("1", "我的会计是李伟", thread_id=talk),
            fact("2", "The contract ends in March", kind="file", file_id=file["id"], name="contract.md", version=1),
        ]
        person.http.post("/api/memories/import", json={"export_id": "e", "items": items}).raise_for_status()
        assert run(service, person, "export", str(tmp_path / "e")) == 0
        for times in (1, 2):
            assert run(service, other, "import", str(tmp_path / "e")) == 0
            assert f"{2 - 2 * (times - 1)} memories" in capsys.readouterr().out
        contract, accountant = remembered(other)
        (there,) = other.get("/api/threads")["items"]
        assert [one["text"] for one in (contract, accountant)] == [one["text"] for one in remembered(person)]
        assert accountant["source"]["thread_id"] == there["thread_id"] != talk
        restored = next(item for item in whole(other) if item["name"] == "contract.md")
        assert contract["source"] == contract["source"] | {"file_id": restored["id"], "version": 1}
        assert contract["created_at"] == "2026-01-01T00:00:00Z"
        other.http.post(f"/api/drive/items/{restored['id']}/trash").raise_for_status()
        assert [one["text"] for one in remembered(other)] == [accountant["text"]]


@pytest.mark.parametrize("harm", [None, "{}", '[{"id": "1"}]', "no JSON"])
def test_memories_that_can_not_be_read_are_named_and_the_rest_is_restored(
    service: Service, tmp_path: Path, harm: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("forgetful")) as person, closing(service.add_new("harmed")) as other:
        person.upload("plan.md", "plan")
        body = {"export_id": "e", "items": [fact("1", "I like tea")]}
        person.http.post("/api/memories/import", json=body).raise_for_status()
        run(service, person, "export", str(tmp_path / "e"))
        file = tmp_path / "e" / "Memories.json"
        file.unlink() if harm is None else file.write_text(harm)
        assert run(service, other, "import", str(tmp_path / "e")) == 1
        assert "what was remembered: " in capsys.readouterr().out
        assert other.names() == ["plan.md"]


def test_an_administrators_import_gives_the_roles_of_groups_again_and_names_the_groups_that_are_not_here(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(service.add_new("groupie")) as person, closing(service.owner()) as owner:
        folder = person.folder("shared with groups")
        for name in ("Sales 组", "Gone Team"):
            owner.http.post("/api/groups", json={"name": name, "members": []}).raise_for_status()
            body = {"email": f"group:{name}", "role": "viewer"}
            person.http.post(f"/api/drive/items/{folder['id']}/shares", json=body).raise_for_status()
        run(service, person, "export", str(tmp_path / "e"))
        owner.http.delete("/api/groups/Gone Team").raise_for_status()
        owner.http.patch("/api/groups/Sales 组", json={"name": "SALES 组"}).raise_for_status()
        for importer, place in ((owner, "/of groups"), (person, "/of groups")):
            assert run(service, importer, "import", str(tmp_path / "e"), "--into", place) == 0
            assert "shared with groups: group:Gone Team: There is no such group." in capsys.readouterr().out
            restored = next(item for item in whole(importer) if item["name"] == folder["name"] and item["parent_id"])
            assert [share["email"] for share in restored["shares"]] == ["group:SALES 组"]
        owner.http.delete("/api/groups/SALES 组").raise_for_status()
