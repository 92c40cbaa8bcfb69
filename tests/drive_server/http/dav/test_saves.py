"""Programs that save by way of other names: their requests in order, over real HTTP, as the owner or as an editor.

Each program saves as one of them each time, as both at night.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.models.access import Link
from drive_server.services.saves.service import SaveService
from drive_server.services.sharing.links import LinkTerms
from tests.drive_server.http.dav.test_files import owner
from tests.drive_server.http.dav.test_shared import SHARED
from tests.e2e.soaking import AT_NIGHT

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

OLD, NEW = b"second content", b"the content that is saved"
CARA = "cara@example.com"
SANDBOX = "%s.sb-1a2b3c4d-AbCdEf"
RESCUE = ".TemporaryItems/folders.501/TemporaryItems/(A Document Being Saved By TextEdit)"

Step = tuple[str, str, str | bytes]
"""A request: its method, the path below the folder (`%s` is the file's name), the destination or the body."""

SAVES: dict[str, tuple[str, list[Step], set[str]]] = {
    "Word": (
        "w.docx",
        [
            ("PUT", "~$w.docx", b"owner"),
            ("PUT", "~WRD0000.tmp", NEW),
            ("MOVE", "%s", "~WRL0001.tmp"),
            ("MOVE", "~WRD0000.tmp", "%s"),
            ("DELETE", "~WRL0001.tmp", b""),
            ("DELETE", "~$w.docx", b""),
        ],
        set(),
    ),
    "Word that deletes the old file first": (
        "w.docx",
        [
            ("PUT", "~WRD0000.tmp", NEW),
            ("MOVE", "%s", "~WRL0001.tmp"),
            ("DELETE", "~WRL0001.tmp", b""),
            ("MOVE", "~WRD0000.tmp", "%s"),
        ],
        set(),
    ),
    "Excel": (
        "报表.xlsx",
        [
            ("PUT", "7C2B1A00", b""),
            ("PUT", "7C2B1A00", NEW),
            ("MOVE", "%s", "5E6F7A8B.tmp"),
            ("MOVE", "7C2B1A00", "%s"),
            ("DELETE", "5E6F7A8B.tmp", b""),
        ],
        set(),
    ),
    "a program with names of its own": (
        "w.docx",
        [
            ("PUT", "save-9", NEW),
            ("MOVE", "%s", "kept-9"),
            ("MOVE", "save-9", "%s"),
            ("DELETE", "kept-9", b""),
        ],
        set(),
    ),
    "LibreOffice on a mount": (
        "l.odt",
        [
            ("PUT", ".~lock.l.odt#", b",ann,desktop"),
            ("PUT", "lu1234ab.tmp", NEW),
            ("DELETE", "%s", b""),
            ("PUT", "%s", NEW),
            ("DELETE", "lu1234ab.tmp", b""),
            ("DELETE", ".~lock.l.odt#", b""),
        ],
        set(),
    ),
    "LibreOffice with a draft": (
        "l.odt",
        [("PUT", "lu1234ab.tmp", NEW), ("DELETE", "%s", b""), ("MOVE", "lu1234ab.tmp", "%s")],
        set(),
    ),
    "davfs2": ("w.txt", [("DELETE", "%s", b""), ("PUT", "%s", b""), ("PUT", "%s", NEW)], set()),
    "TextEdit in a folder of the sandbox": (
        "w.txt",
        [
            ("MKCOL", SANDBOX, b""),
            ("PUT", f"{SANDBOX}/%s", NEW),
            ("MOVE", "%s", f"{SANDBOX}/old"),
            ("MOVE", f"{SANDBOX}/%s", "%s"),
            ("DELETE", SANDBOX, b""),
        ],
        set(),
    ),
    "TextEdit in the temporary items": (
        "w.txt",
        [
            ("MKCOL", ".TemporaryItems", b""),
            ("MKCOL", ".TemporaryItems/folders.501", b""),
            ("MKCOL", ".TemporaryItems/folders.501/TemporaryItems", b""),
            ("MKCOL", RESCUE, b""),
            ("PUT", f"{RESCUE}/%s", NEW),
            ("MOVE", f"{RESCUE}/%s", "%s"),
            ("DELETE", ".TemporaryItems", b""),
        ],
        set(),
    ),
    "Preview": (
        "w.pdf",
        [
            ("PUT", ".dat.nosync01fe.AbCdEf", NEW),
            ("MOVE", "%s", SANDBOX),
            ("MOVE", ".dat.nosync01fe.AbCdEf", "%s"),
            ("DELETE", SANDBOX, b""),
        ],
        set(),
    ),
    "vim": (
        "w.txt",
        [
            ("PUT", ".w.txt.swp", b"b0VIM"),
            ("PUT", "4913", b""),
            ("DELETE", "4913", b""),
            ("MOVE", "%s", "%s~"),
            ("PUT", "%s", NEW),
            ("DELETE", "%s~", b""),
            ("DELETE", ".w.txt.swp", b""),
        ],
        set(),
    ),
    "Emacs": ("w.txt", [("MOVE", "%s", "%s~"), ("PUT", "%s", NEW), ("DELETE", "#w.txt#", b"")], {"w.txt~"}),
    "rsync with a backup": (
        "w.txt",
        [("PUT", ".w.txt.AbC123", NEW), ("MOVE", "%s", "%s~"), ("MOVE", ".w.txt.AbC123", "%s")],
        {"w.txt~"},
    ),
    "gedit": ("w.txt", [("PUT", ".goutputstream-AB12CD", NEW), ("MOVE", ".goutputstream-AB12CD", "%s")], set()),
    "Kate": ("w.txt", [("PUT", "%s.aBcDeF", NEW), ("MOVE", "%s.aBcDeF", "%s")], set()),
    "rclone": ("w.txt", [("PUT", "%s.1a2b3c4d.partial", NEW), ("MOVE", "%s.1a2b3c4d.partial", "%s")], set()),
    "perl with a backup": (
        "w.txt",
        [("PUT", "XXfgSBUg", NEW), ("MOVE", "%s", "%s.bak"), ("MOVE", "XXfgSBUg", "%s")],
        {"w.txt.bak"},
    ),
    "sed": ("w.txt", [("PUT", "sedVZLq36", NEW), ("MOVE", "sedVZLq36", "%s")], set()),
    "an IDE of JetBrains": (
        "w.py",
        [
            ("PUT", "%s___jb_tmp___", NEW),
            ("MOVE", "%s", "%s___jb_old___"),
            ("MOVE", "%s___jb_tmp___", "%s"),
            ("DELETE", "%s___jb_old___", b""),
        ],
        set(),
    ),
    "AutoCAD": ("w.dwg", [("PUT", "acad1.tmp", NEW), ("MOVE", "%s", "w.bak"), ("MOVE", "acad1.tmp", "%s")], {"w.bak"}),
    "a program that writes in place": ("w.txt", [("PUT", "%s", NEW)], set()),
}


@dataclass(frozen=True, slots=True)
class Place:
    """The folder in which a person saves, as they see it."""

    dav: Dav
    path: str

    async def play(self, name: str, steps: list[Step]) -> None:
        for method, path, more in steps:
            where = self.path + path.replace("%s", name)
            if method == "MOVE":
                assert isinstance(more, str)
                response = await self.dav.move(where, self.path + more.replace("%s", name))
            else:
                response = await self.dav.send(method, where, more or (b"" if method == "PUT" else None))
            is_absent = method == "DELETE" and response.status_code == 404
            assert response.is_success or is_absent, (method, path, response.status_code, response.text)


@dataclass(frozen=True, slots=True)
class Saved:
    """A file with a share, a link, a star and two versions; the owner, and the places from which it is saved."""

    service: Service
    actor: Actor
    before: Item
    mine: Place
    bobs: Place

    async def require_itself(self, content: bytes = NEW, versions: int = 3, *, beside: set[str] | None = None) -> None:
        """Fail unless the file is itself, with what it had, this content, and none of the passing files."""
        drive, now = self.service.drive, await self.service.drive.files.get(self.actor, self.before.id)
        assert (now.path, now.trashed_at, now.version) == (self.before.path, None, versions)
        assert (await self.mine.dav.ok("GET", now.path)).content == content
        shares = await drive.sharing.list_shares(self.actor, now.id)
        assert {share.email for share in shares} == {CARA, "bob@example.com"}
        access = (await drive.links.list_access(self.actor, now.id)).items
        assert len([one for one in access if isinstance(one, Link)]) == 1
        assert await drive.stars.among(self.actor, [now.id]) == {now.id}
        assert set(await self.mine.dav.names("/f")) == {now.name, *(beside or ())}
        assert (await drive.files.list_trash(self.actor)).items == ()
        usage = await drive.quota.usage(self.actor.user_id)
        assert usage.used_bytes == len(b"first") + len(OLD) + (len(content) if content != OLD else 0)


async def prepared(service: Service, dav: Dav, bobs_dav: Dav, name: str) -> Saved:
    actor, drive = await owner(service), service.drive
    await dav.ok("MKCOL", "/f")
    for content in (b"first", OLD):
        await dav.ok("PUT", f"/f/{name}", content)
    await drive.sharing.share(actor, "/f", "bob@example.com", "editor")
    item = await drive.files.get(actor, f"/f/{name}")
    await drive.sharing.share(actor, item.id, CARA, "viewer")
    await drive.links.create(actor, item.id, LinkTerms(role="viewer"))
    await drive.stars.star(actor, item.id)
    mine, bobs = Place(dav, "/f/"), Place(bobs_dav, f"{SHARED}/f/")
    return Saved(service, actor, await drive.files.get(actor, item.id), mine, bobs)


@pytest.mark.parametrize(
    ("program", "by"),
    [
        pytest.param(program, by, marks=() if number % 2 == at else AT_NIGHT)
        for number, program in enumerate(SAVES)
        for at, by in enumerate(("owner", "editor"))
    ],
)
async def test_a_file_stays_itself_when_a_program_saves_it(
    service: Service, dav: Dav, bobs_dav: Dav, program: str, by: str
) -> None:
    name, steps, beside = SAVES[program]
    saved = await prepared(service, dav, bobs_dav, name)
    await (saved.mine if by == "owner" else saved.bobs).play(name, steps)
    await saved.require_itself(beside=beside)
    for left in beside:
        assert (await dav.ok("GET", f"/f/{left}")).content == OLD


@pytest.mark.parametrize("program", SAVES)
async def test_so_does_a_new_file_that_is_saved_again_and_again(service: Service, dav: Dav, program: str) -> None:
    name, steps, beside = SAVES[program]
    actor, place = await owner(service), Place(dav, "/f/")
    await dav.ok("MKCOL", "/f")
    await dav.ok("PUT", f"/f/{name}", OLD)
    before = await service.drive.files.get(actor, f"/f/{name}")
    for number in range(3):
        drifted = [(method, path, b"save %d" % number if more == NEW else more) for method, path, more in steps]
        await place.play(name, drifted)
    now = await service.drive.files.get(actor, f"/f/{name}")
    assert (now.id, now.version) == (before.id, 4)
    assert (await dav.ok("GET", now.path)).content == b"save 2"
    assert set(await dav.names("/f")) == {name, *beside}
    assert [(await dav.ok("GET", f"/f/{left}")).content for left in beside] == [b"save 1"] * len(beside)
    assert (await service.drive.files.list_trash(actor)).items == ()


WORD = SAVES["Word"][1]


async def test_the_undo_of_a_save_gives_the_earlier_content_back(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    saved = await prepared(service, dav, bobs_dav, "w.docx")
    await saved.mine.play("w.docx", WORD)
    (change, *_) = (await service.drive.journal.list_changes(saved.actor, kind="edit")).items
    assert change.summary == "Saved 'w.docx'."
    assert (await service.drive.undo.undo(saved.actor, change_id=change.id)).value.skipped == ()
    assert (await dav.ok("GET", "/f/w.docx")).content == OLD
    assert (await service.drive.undo.redo(saved.actor, change_id=change.id)).value.skipped == ()
    await saved.require_itself(versions=5)


@pytest.mark.parametrize("done", range(1, 6))
@pytest.mark.parametrize("program", ["Word", "Word that deletes the old file first", "LibreOffice on a mount", "vim"])
async def test_a_program_that_is_killed_loses_nothing(
    service: Service, dav: Dav, bobs_dav: Dav, program: str, done: int
) -> None:
    name, steps, _ = SAVES[program]
    saved = await prepared(service, dav, bobs_dav, name)
    await saved.mine.play(name, steps[:done])
    item = await service.drive.files.get(saved.actor, saved.before.id)
    versions = (await service.drive.documents.list_versions(saved.actor, item.id)).items if not item.trashed_at else ()
    if item.trashed_at:
        assert item.id in {one.id for one in (await service.drive.files.list_trash(saved.actor)).items}
        item = (await service.drive.files.restore(saved.actor, item.id, on_conflict="rename")).value
        versions = (await service.drive.documents.list_versions(saved.actor, item.id)).items
    content = await service.drive.documents.open_content(saved.actor, item.id, 2)
    assert b"".join([piece async for piece in content.stream()]) == OLD
    assert len(versions) in {2, 3}
    assert len(await service.drive.sharing.list_shares(saved.actor, item.id)) == 2


async def test_what_is_known_of_a_save_is_in_the_database(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    saved, drive = await prepared(service, dav, bobs_dav, "w.docx"), service.drive
    for step in WORD:
        await saved.mine.play("w.docx", [step])
        drive.saves = SaveService(drive.database, drive.journal)
        await drive.saves.expire()
    await saved.require_itself()


def pass_time(service: Service, seconds: float) -> None:
    service.drive.saves.clock = lambda: datetime.now(UTC) + timedelta(seconds=seconds)


async def ids(service: Service, actor: Actor, *paths: str) -> list[str]:
    return [(await service.drive.files.get(actor, path)).id for path in paths]


async def test_a_file_that_comes_later_is_another_one(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    saved = await prepared(service, dav, bobs_dav, "l.odt")
    await dav.ok("DELETE", "/f/l.odt")
    pass_time(service, 31)
    assert (await dav.send("PUT", "/f/l.odt", NEW)).status_code == 201
    assert await ids(service, saved.actor, "/f/l.odt") != [saved.before.id]
    assert [item.id for item in (await service.drive.files.list_trash(saved.actor)).items] == [saved.before.id]
    await dav.move("/f/l.odt", "/f/l.odt~")
    pass_time(service, 100)
    aside = await ids(service, saved.actor, "/f/l.odt~")
    await dav.ok("PUT", "/f/l.odt", b"another")
    assert await ids(service, saved.actor, "/f/l.odt~") == aside


async def test_a_file_that_somebody_else_or_another_program_makes_is_another_one(
    service: Service, dav: Dav, bobs_dav: Dav
) -> None:
    saved = await prepared(service, dav, bobs_dav, "l.odt")
    await dav.ok("DELETE", "/f/l.odt")
    assert (await bobs_dav.send("PUT", f"{SHARED}/f/l.odt", NEW)).status_code == 201
    assert await ids(service, saved.actor, "/f/l.odt") != [saved.before.id]
    await dav.ok("DELETE", "/f/l.odt")
    made = await service.drive.documents.create(saved.actor, "/f", "l.odt", b"by another way")
    assert len((await service.drive.files.list_trash(saved.actor)).items) == 2
    await dav.ok("DELETE", "/f/l.odt")
    await service.drive.files.restore(saved.actor, made.value.id)
    assert (await dav.send("PUT", "/f/l.odt", b"changed")).status_code == 204
    assert (await service.drive.files.get(saved.actor, made.value.id)).version == 2


async def test_a_person_who_renames_a_file_and_writes_another_has_two(
    service: Service, dav: Dav, bobs_dav: Dav
) -> None:
    saved = await prepared(service, dav, bobs_dav, "offer.docx")
    await dav.move("/f/offer.docx", "/f/offer 2025.docx")
    assert (await dav.send("PUT", "/f/offer.docx", NEW)).status_code == 201
    renamed, other = await ids(service, saved.actor, "/f/offer 2025.docx", "/f/offer.docx")
    assert renamed == saved.before.id != other
    assert (await dav.ok("GET", "/f/offer 2025.docx")).content == OLD
    shares = await service.drive.sharing.list_shares(saved.actor, other)
    assert [share.email for share in shares] == ["bob@example.com"]
    await dav.ok("DELETE", "/f/offer 2025.docx")
    assert [item.id for item in (await service.drive.files.list_trash(saved.actor)).items] == [renamed]


@pytest.mark.parametrize("middle", ["t.txt", "~swap.tmp", "1A2B3C4D", "a.txt~"])
async def test_two_files_that_change_names_keep_their_ids(service: Service, dav: Dav, middle: str) -> None:
    actor = await owner(service)
    for name in ("a.txt", "b.txt"):
        await dav.ok("PUT", f"/{name}", name.encode())
    before = await ids(service, actor, "/a.txt", "/b.txt")
    for source, target in (("a.txt", middle), ("b.txt", "a.txt"), (middle, "b.txt")):
        assert (await dav.move(f"/{source}", f"/{target}")).status_code == 201
    assert await ids(service, actor, "/b.txt", "/a.txt") == before
    assert [(await dav.ok("GET", path)).content for path in ("/b.txt", "/a.txt")] == [b"a.txt", b"b.txt"]
    assert sorted(await dav.names()) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("name", ["~offer.tmp", "offer.docx~", ".offer.docx", "offer.docx.bak", "0A1B2C3D"])
async def test_an_odd_name_alone_is_no_save(service: Service, dav: Dav, bobs_dav: Dav, name: str) -> None:
    saved = await prepared(service, dav, bobs_dav, "offer.docx")
    assert (await dav.move("/f/offer.docx", f"/f/{name}")).status_code == 201
    await dav.ok("PUT", "/f/other.docx", NEW)
    assert await ids(service, saved.actor, f"/f/{name}") == [saved.before.id]
    assert (await dav.move(f"/f/{name}", "/f/offer.docx")).status_code == 201
    assert await ids(service, saved.actor, "/f/offer.docx") == [saved.before.id]
    assert (await service.drive.files.get(saved.actor, "/f/offer.docx")).version == 2


async def test_what_people_made_goes_to_the_trash_whatever_its_name(service: Service, dav: Dav) -> None:
    actor = await owner(service)
    for name in ("notes.tmp", "old.bak", "20261128", "draft~"):
        await dav.ok("PUT", f"/{name}", name.encode())
        await dav.ok("DELETE", f"/{name}")
    made = await service.drive.documents.create(actor, "/", "~WRD0000.tmp", b"by another way")
    await dav.ok("DELETE", "/~WRD0000.tmp")
    trash = [item.name for item in (await service.drive.files.list_trash(actor)).items]
    assert sorted(trash) == sorted(["notes.tmp", "old.bak", "20261128", "draft~", made.value.name])


async def test_two_people_save_the_same_file_at_once(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    saved = await prepared(service, dav, bobs_dav, "w.docx")
    ann, bob = saved.mine, saved.bobs
    await ann.play("w.docx", [("PUT", "~WRD0000.tmp", b"Ann's"), ("MOVE", "%s", "~WRL0001.tmp")])
    await bob.play("w.docx", [("PUT", "~WRD0002.tmp", NEW), ("MOVE", "~WRD0002.tmp", "%s")])
    assert (await dav.ok("GET", "/f/w.docx")).content == NEW
    await ann.play("w.docx", [("MOVE", "~WRD0000.tmp", "%s"), ("DELETE", "~WRL0001.tmp", b"")])
    assert (await dav.ok("GET", "/f/w.docx")).content == b"Ann's"
    now = await service.drive.files.get(saved.actor, saved.before.id)
    assert (now.path, now.version) == ("/f/w.docx", 4)
    assert (await dav.names("/f"), (await service.drive.files.list_trash(saved.actor)).items) == (["w.docx"], ())


async def test_a_lock_on_the_name_holds_again_after_the_save(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    saved = await prepared(service, dav, bobs_dav, "w.docx")
    token = await dav.token("/f/w.docx")
    held = {"If": f"</dav/f/w.docx> (<{token}>)"}
    assert (await bobs_dav.move(f"{SHARED}/f/w.docx", f"{SHARED}/f/~WRL0009.tmp")).status_code == 423
    await dav.ok("PUT", "/f/~WRD0000.tmp", NEW)
    assert (await dav.move("/f/w.docx", "/f/~WRL0001.tmp")).status_code == 423
    assert (await dav.move("/f/w.docx", "/f/~WRL0001.tmp", **held)).status_code == 201
    assert (await dav.move("/f/~WRD0000.tmp", "/f/w.docx", **held)).status_code == 201
    assert (await dav.send("DELETE", "/f/~WRL0001.tmp")).status_code == 204
    assert (await bobs_dav.send("PUT", f"{SHARED}/f/w.docx", b"Bob's")).status_code == 423
    assert (await dav.send("UNLOCK", "/f/w.docx", Lock_Token=f"<{token}>")).status_code == 204
    await saved.require_itself()


async def test_a_lock_that_a_program_takes_on_the_freed_name_holds(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    """As davfs2 does: it locks the name, which makes an empty file, and sends the content when the file is closed."""
    saved = await prepared(service, dav, bobs_dav, "w.txt")
    await dav.ok("DELETE", "/f/w.txt")
    token = await dav.token("/f/w.txt")
    assert (await bobs_dav.send("PUT", f"{SHARED}/f/w.txt", b"Bob's")).status_code == 423
    assert (await dav.send("PUT", "/f/w.txt", NEW, If=f"(<{token}>)")).status_code == 204
    assert (await bobs_dav.send("PUT", f"{SHARED}/f/w.txt", b"Bob's")).status_code == 423
    assert (await dav.send("UNLOCK", "/f/w.txt", Lock_Token=f"<{token}>")).status_code == 204
    await saved.require_itself()


async def test_a_save_over_a_locked_file_keeps_its_lock_until_the_content_is_sent(
    service: Service, dav: Dav, bobs_dav: Dav
) -> None:
    """As recorded of LibreOffice 7.4 on davfs2 1.6: it renames a draft whose content davfs2 did not send yet."""
    saved = await prepared(service, dav, bobs_dav, "l.odt")
    file, draft = await dav.token("/f/l.odt"), await dav.token("/f/lu3319enhyc.tmp")
    both = f"</dav/f/l.odt> (<{file}>) </dav/f/lu3319enhyc.tmp> (<{draft}>)"
    assert (await dav.move("/f/lu3319enhyc.tmp", "/f/l.odt", If=both)).status_code == 204
    assert (await dav.ok("GET", "/f/l.odt")).content == OLD
    assert (await dav.send("LOCK", "/f/l.odt", If=f"(<{file}>)")).status_code == 200
    assert (await bobs_dav.send("PUT", f"{SHARED}/f/l.odt", b"Bob's")).status_code == 423
    assert (await dav.send("PUT", "/f/l.odt", NEW, If=f"</dav/f/l.odt> (<{file}>)")).status_code == 204
    assert (await dav.send("UNLOCK", "/f/l.odt", Lock_Token=f"<{file}>")).status_code == 204
    await saved.require_itself()


async def test_a_draft_at_a_freed_name_is_no_content_before_it_is_sent(
    service: Service, dav: Dav, bobs_dav: Dav
) -> None:
    """As recorded of `perl -i.bak` on davfs2 1.6."""
    saved = await prepared(service, dav, bobs_dav, "w.txt")
    draft = await dav.token("/f/XXYnrozi")
    assert (await dav.move("/f/w.txt", "/f/w.txt.bak")).status_code == 201
    assert (await dav.move("/f/XXYnrozi", "/f/w.txt", If=f"</dav/f/XXYnrozi> (<{draft}>)")).status_code == 201
    assert (await dav.ok("GET", "/f/w.txt")).content == OLD
    assert (await dav.send("PUT", "/f/w.txt", NEW, If=f"</dav/f/w.txt> (<{draft}>)")).status_code == 204
    await saved.require_itself(beside={"w.txt.bak"})


async def test_the_time_that_a_program_gives_its_draft_is_the_file_s(dav: Dav) -> None:
    await dav.ok("PUT", "/w.docx", OLD)
    await dav.ok("PUT", "/~WRD0000.tmp", NEW, X_OC_Mtime="1700000000")
    await dav.move("/w.docx", "/~WRL0001.tmp")
    await dav.move("/~WRD0000.tmp", "/w.docx")
    assert (await dav.ok("GET", "/w.docx")).headers["last-modified"] == "Tue, 14 Nov 2023 22:13:20 GMT"


async def test_the_old_copy_can_be_moved_back(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    saved = await prepared(service, dav, bobs_dav, "w.docx")
    await saved.mine.play("w.docx", WORD[:4])
    assert (await dav.ok("GET", "/f/~WRL0001.tmp")).content == OLD
    await saved.mine.play("w.docx", [("MOVE", "~WRL0001.tmp", "%s"), ("DELETE", "~$w.docx", b"")])
    now = await service.drive.files.get(saved.actor, saved.before.id)
    assert (now.path, now.version, (await dav.ok("GET", now.path)).content) == ("/f/w.docx", 4, OLD)
    assert await dav.names("/f") == ["w.docx"]
