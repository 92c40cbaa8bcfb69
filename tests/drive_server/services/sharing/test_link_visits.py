from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import ForbiddenError, NotFoundError, PasswordRequiredError
from drive_server.services.identity.sessions import SessionService
from drive_server.services.sharing.link_downloads import Fetch, link_downloads
from drive_server.services.sharing.link_passwords import LinkPasswords
from drive_server.services.sharing.link_visits import LinkVisits
from drive_server.services.sharing.links import LinkTerms
from drive_server.storage.tables.sharing import LinkRow
from tests.fakes.clock import SettableClock

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.access import Link
    from drive_server.models.items import Item

PASSWORD = "correct horse"
HERE = "10.0.0.1"


@dataclass
class Door:
    """Alice's folder with a file in it, and who comes by links at a time that the test sets."""

    drive: Drive
    alice: Actor
    folder: Item
    file: Item
    visits: LinkVisits
    clock: SettableClock

    async def link(self, ref: str | None = None, **terms: object) -> Link:
        asked = LinkTerms(**terms)  # pyright: ignore[reportArgumentType] - terms as each test names them
        return (await self.drive.links.create(self.alice, ref or self.folder.id, asked)).value

    async def refused(self, link: Link, address: str = HERE) -> dict[str, object]:
        with pytest.raises(NotFoundError) as caught:
            await self.visits.open(token_of(link), address)
        return caught.value.to_dict()


def token_of(link: Link) -> str:
    assert link.url is not None
    return link.url.rpartition("/")[2]


@pytest.fixture
async def door(drive: Drive, alice: Actor) -> Door:
    folder = (await drive.files.create_folder(alice, "root", "Reports")).value
    file = (await drive.documents.create(alice, folder.id, "plan.md", "# Plan")).value
    clock = SettableClock()
    visits = LinkVisits(drive.database, LinkPasswords(), link_downloads(drive.database), clock)
    return Door(drive, alice, folder, file, visits, clock)


async def test_a_visitor_reaches_what_the_link_leads_to_and_what_is_below(door: Door) -> None:
    visit = await door.visits.open(token_of(await door.link()), HERE)
    seen = await door.drive.files.get(visit.actor, door.file.id)
    assert (seen.path, seen.role) == ("/Reports/plan.md", "viewer")
    assert (await door.drive.documents.read_text(visit.actor, door.file.id)).text == "# Plan"
    assert (await door.drive.files.get(visit.actor, door.folder.id)).parent_id is None


async def test_a_visitor_reaches_nothing_else_by_whatever_name(door: Door) -> None:
    other = (await door.drive.documents.create(door.alice, "root", "secret.md", "x")).value
    inside = (await door.drive.files.create_folder(door.alice, door.folder.id, "In")).value
    visit = await door.visits.open(token_of(await door.link(inside.id)), HERE)
    me = await door.drive.identity.me(door.alice)
    for ref in (other.id, "/secret.md", "root", "/", me.root_id, door.folder.id, door.file.id, "/Reports/In", "0" * 32):
        with pytest.raises(NotFoundError):
            await door.drive.files.get(visit.actor, ref)
        with pytest.raises(NotFoundError):
            await door.drive.documents.open_content(visit.actor, ref)


async def test_what_is_moved_out_of_the_folder_is_out_of_reach(door: Door) -> None:
    visit = await door.visits.open(token_of(await door.link()), HERE)
    await door.drive.files.move(door.alice, door.file.id, "root")
    with pytest.raises(NotFoundError):
        await door.drive.documents.open_content(visit.actor, door.file.id)


async def test_every_link_that_leads_nowhere_gives_the_same_answer(door: Door) -> None:
    revoked, expired, trashed = await door.link(), await door.link(expires_in_hours=1), await door.link(door.file.id)
    used = await door.link(max_downloads=1)
    async with door.drive.database.write() as session:
        row = await session.get_one(LinkRow, used.id)
        row.downloads = 1
    await door.drive.links.revoke(door.alice, door.folder.id, revoked.id)
    await door.drive.files.trash(door.alice, door.file.id)
    assert expired.expires_at is not None
    door.clock.now = expired.expires_at

    told = [await door.refused(link) for link in (revoked, expired, trashed, used)]
    for token in ("", "x", "报告", door.drive.signer.sign("link", b"x"), door.drive.signer.sign("other", bytes(16))):
        with pytest.raises(NotFoundError) as caught:
            await door.visits.open(token, HERE)
        told.append(caught.value.to_dict())

    assert all(answer == told[0] for answer in told)


async def test_a_link_holds_again_when_its_item_is_restored(door: Door) -> None:
    link = await door.link()
    await door.drive.files.trash(door.alice, door.folder.id)
    await door.refused(link)
    await door.drive.files.restore(door.alice, door.folder.id)
    assert (await door.visits.open(token_of(link), HERE)).node_id == door.folder.id


async def test_revoking_holds_within_a_visit_that_is_going_on(door: Door) -> None:
    link = await door.link(role="editor")
    visit = await door.visits.open(token_of(link), HERE)
    await door.drive.links.revoke(door.alice, door.folder.id, link.id)
    blob = await door.drive.blobs.put_bytes(b"late")
    with pytest.raises(NotFoundError):
        await door.drive.files.get(visit.actor, door.file.id)
    with pytest.raises(NotFoundError):
        await door.drive.documents.replace_from_blob(visit.actor, door.file.id, blob)


async def test_a_role_that_was_lowered_holds_within_a_visit_that_is_going_on(door: Door) -> None:
    link = await door.link(role="editor")
    visit = await door.visits.open(token_of(link), HERE)
    visit.require_editor()
    await door.drive.links.update(door.alice, door.folder.id, link.id, LinkTerms(role="viewer"))
    blob = await door.drive.blobs.put_bytes(b"late")
    with pytest.raises(ForbiddenError):
        await door.drive.documents.replace_from_blob(visit.actor, door.file.id, blob)


async def test_viewers_may_not_write(door: Door) -> None:
    visit = await door.visits.open(token_of(await door.link()), HERE)
    with pytest.raises(ForbiddenError, match="reading only"):
        visit.require_editor()


async def test_what_an_editor_writes_is_the_owners_and_says_that_it_came_by_the_link(door: Door) -> None:
    link = await door.link(role="editor")
    visit = await door.visits.open(token_of(link), HERE)
    blob = await door.drive.blobs.put_bytes(b"new")
    await door.drive.documents.create_from_blob(visit.actor, door.folder.id, "new.txt", blob)
    (change, *_) = (await door.drive.journal.list_changes(door.alice)).items
    assert (change.method, change.key_name, change.user_email) == (
        "link",
        f"link {link.id[:8]}",
        door.alice.principal.email,
    )
    assert (await door.drive.documents.read_text(door.alice, "/Reports/new.txt")).text == "new"


async def test_the_password_or_a_pass_for_it_is_asked_for(door: Door) -> None:
    token = token_of(await door.link(password=PASSWORD))
    with pytest.raises(PasswordRequiredError):
        await door.visits.open(token, HERE)
    with pytest.raises(PasswordRequiredError):
        await door.visits.open(token, HERE, password="wrong horse")
    assert (await door.visits.open(token, HERE, password=PASSWORD)).has_password
    pass_token = await door.visits.pass_for(token, HERE, PASSWORD)
    assert (await door.visits.open(token, HERE, pass_token=pass_token)).has_password


async def test_a_pass_ends_after_an_hour_with_its_password_and_at_other_links(door: Door) -> None:
    link, other = await door.link(password=PASSWORD), await door.link(password=PASSWORD)
    token = token_of(link)
    pass_token = await door.visits.pass_for(token, HERE, PASSWORD)
    for wrong in ("", "x", token, pass_token + "x"):
        with pytest.raises(PasswordRequiredError):
            await door.visits.open(token, HERE, pass_token=wrong)
    with pytest.raises(PasswordRequiredError):
        await door.visits.open(token_of(other), HERE, pass_token=pass_token)
    door.clock.advance(3601)
    with pytest.raises(PasswordRequiredError):
        await door.visits.open(token, HERE, pass_token=pass_token)
    fresh = await door.visits.pass_for(token, HERE, PASSWORD)
    await door.drive.links.update(door.alice, door.folder.id, link.id, LinkTerms(password="another horse"))
    with pytest.raises(PasswordRequiredError):
        await door.visits.open(token, HERE, pass_token=fresh)


async def test_of_many_downloads_at_once_exactly_as_many_as_allowed_are_let_through(door: Door) -> None:
    link = await door.link(max_downloads=3)
    outcomes: list[bool] = []

    async def download(number: int) -> None:
        try:
            await door.visits.count(Fetch(link.id, "blob", f"10.0.0.{number}", 10, 10, is_part=False))
        except NotFoundError:
            outcomes.append(False)
        else:
            outcomes.append(True)

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(download, number)

    assert (outcomes.count(True), outcomes.count(False)) == (3, 17)
    (listed,) = (await door.drive.links.list_access(door.alice, door.folder.id)).items
    assert getattr(listed, "downloads", None) == 3


async def test_the_last_download_can_be_finished_by_who_began_it_and_by_nobody_else(door: Door) -> None:
    link = await door.link(max_downloads=1)
    await door.visits.count(Fetch(link.id, "blob", HERE, 100, 40, is_part=True))
    assert (await door.visits.open(token_of(link), HERE)).link_id == link.id
    await door.refused(link, "10.0.0.2")
    await door.visits.count(Fetch(link.id, "blob", HERE, 100, 60, is_part=True))
    with pytest.raises(NotFoundError):
        await door.visits.count(Fetch(link.id, "blob", HERE, 100, 60, is_part=True))


async def test_a_visitor_gets_nothing_that_outlasts_the_link(door: Door) -> None:
    visitor = (await door.visits.open(token_of(await door.link(role="editor")), HERE)).actor
    identity = door.drive.identity
    key, _ = await identity.create_key(door.alice, "Alice's own", ["read"])

    for attempt in (
        identity.create_key(visitor, "taken", ["read"]),
        identity.list_keys(visitor),
        identity.revoke_key(visitor, key.id),
        identity.change_scopes(visitor, key.id, ["read", "write"]),
        SessionService(door.drive.database).create(visitor.principal),
        door.drive.downloads.create(visitor, door.file.id),
    ):
        with pytest.raises(ForbiddenError):
            await attempt
    (kept,) = [entry for entry in await identity.list_keys(door.alice) if entry.id == key.id]
    assert (kept.revoked_at, kept.scopes) == (None, key.scopes)
