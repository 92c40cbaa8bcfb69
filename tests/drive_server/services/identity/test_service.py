from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from drive_server.connect import open_drive
from drive_server.kernel.access import ALL_SCOPES, Actor, Principal, Scope
from drive_server.kernel.errors import (
    DriveError,
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    StateConflictError,
    StorageFailureError,
    UnauthenticatedError,
)
from drive_server.services.identity.service import IdentityService
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import ApiKeyRow
from tests.drive_server.actors import local_owner, new_person, with_scopes
from tests.drive_server.issuer import issuing
from tests.fakes.clock import START, SettableClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.kernel.settings import DriveSettings
    from drive_server.kernel.sql.database import Database


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'database' / 'drive.db'}")
    yield database
    await database.dispose()


@pytest.fixture
def token_path(tmp_path: Path) -> Path:
    return tmp_path / "own" / "token"


@pytest.fixture
def identity(database: Database, token_path: Path, clock: SettableClock) -> IdentityService:
    return IdentityService(database, token_path, clock)


@pytest.fixture
def data_dir(token_path: Path) -> Path:
    """A data directory that is in use and open to others."""
    token_path.parent.mkdir()
    (token_path.parent / "something").touch()
    token_path.parent.chmod(0o755)
    return token_path.parent


@pytest.fixture
async def owner(identity: IdentityService) -> Actor:
    return await local_owner(identity)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def token_in(path: Path) -> str:
    return path.read_text().strip()


def damage(path: Path, left: str | None) -> None:
    path.unlink()
    if left is not None:
        path.write_text(left)


async def refusal(identity: IdentityService, secret: str) -> DriveError:
    with pytest.raises(UnauthenticatedError) as caught:
        await identity.authenticate(secret)
    return caught.value


async def test_the_local_token_proves_the_owner(identity: IdentityService) -> None:
    user, token = await identity.ensure_local_user()
    assert await identity.authenticate(token) == Principal(
        user.id, "me@localhost", ALL_SCOPES, "token", "local access token", is_admin=True
    )


async def test_the_token_file_is_for_its_owner_alone(identity: IdentityService, token_path: Path) -> None:
    _, token = await identity.ensure_local_user()
    assert token_in(token_path) == token
    assert mode_of(token_path) == 0o600
    assert mode_of(token_path.parent) == 0o700
    assert [path.name async for path in anyio.Path(token_path.parent).iterdir()] == ["token"]


async def test_the_token_is_kept_across_starts(identity: IdentityService, database: Database, token_path: Path) -> None:
    first = await identity.ensure_local_user()
    assert await IdentityService(database, token_path).ensure_local_user() == first


@pytest.mark.parametrize("left", [None, "", "dak_somebody-elses", "\u2603" * 2000])
async def test_a_lost_or_damaged_token_file_gets_a_new_token_and_ends_the_old_one(
    identity: IdentityService, token_path: Path, left: str | None
) -> None:
    user, old = await identity.ensure_local_user()
    damage(token_path, left)
    again, new = await identity.ensure_local_user()
    assert again == user
    assert new != old
    assert token_in(token_path) == new
    await refusal(identity, old)
    await identity.authenticate(new)


async def test_a_revoked_token_is_replaced_at_the_next_start(identity: IdentityService, owner: Actor) -> None:
    key = (await identity.list_keys(owner))[0]
    await identity.revoke_key(owner, key.id)
    _, token = await identity.ensure_local_user()
    assert (await identity.authenticate(token)).user_id == owner.user_id


async def test_an_open_token_file_is_closed_with_a_warning(
    identity: IdentityService, token_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, token = await identity.ensure_local_user()
    await anyio.Path(token_path).chmod(0o644)
    with caplog.at_level(logging.WARNING):
        _, again = await identity.ensure_local_user()
    assert again == token
    assert mode_of(token_path) == 0o600
    assert "readable by other users" in caplog.text
    assert token not in caplog.text


async def test_a_data_directory_in_use_by_others_is_warned_about_and_left_alone(
    identity: IdentityService, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await identity.ensure_local_user()
    assert mode_of(data_dir) == 0o755
    assert "open to other users" in caplog.text


async def test_a_token_path_that_is_no_file_is_a_clear_error(identity: IdentityService, token_path: Path) -> None:
    await anyio.Path(token_path).mkdir(parents=True)
    with pytest.raises(StorageFailureError):
        await identity.ensure_local_user()


async def test_two_starts_at_once_agree_on_one_token(database: Database, token_path: Path) -> None:
    answers: list[Any] = []

    async def start() -> None:
        answers.append(await IdentityService(database, token_path).ensure_local_user())

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(start)
    assert len(set(answers)) == 1


async def test_a_new_user_has_an_empty_drive_and_a_key_with_all_scopes(
    identity: IdentityService, owner: Actor, database: Database
) -> None:
    user, secret = await identity.create_user(owner, "  Ana@Example.COM ")
    assert (user.email, user.is_admin) == ("ana@example.com", False)
    principal = await identity.authenticate(secret)
    assert (principal.user_id, principal.scopes, principal.method) == (user.id, ALL_SCOPES, "api_key")
    assert await identity.me(Actor(principal)) == user
    async with database.read() as session:
        root = await session.get(NodeRow, user.root_id)
    assert root is not None
    assert (root.owner_id, root.parent_id, root.kind) == (user.id, None, "folder")


async def test_a_user_is_added_once(identity: IdentityService, owner: Actor) -> None:
    await identity.create_user(owner, "ana@example.com")
    with pytest.raises(StateConflictError):
        await identity.create_user(owner, "ANA@example.com")


async def test_only_an_administrator_with_all_scopes_adds_users(identity: IdentityService, owner: Actor) -> None:
    _, secret = await identity.create_user(owner, "ana@example.com")
    ana = Actor(await identity.authenticate(secret))
    with pytest.raises(ForbiddenError):
        await identity.create_user(ana, "bob@example.com")
    with pytest.raises(MissingScopeError):
        await identity.create_user(with_scopes(owner, Scope.READ, Scope.WRITE), "bob@example.com")


async def test_unknown_and_revoked_keys_get_one_answer(identity: IdentityService, owner: Actor) -> None:
    key, secret = await identity.create_key(owner, "laptop", ["read"])
    assert (await identity.authenticate(secret)).key_name == "laptop"
    await identity.revoke_key(owner, key.id)
    revoked = await refusal(identity, secret)
    for unknown in ("", "dak_", "dak_" + "x" * 43, "\ud800", "键" * 100_000, "a\x00b", key.prefix):
        assert (await refusal(identity, unknown)).to_dict() == revoked.to_dict()


async def test_an_expired_key_says_so(identity: IdentityService, owner: Actor, clock: SettableClock) -> None:
    key, secret = await identity.create_key(owner, "laptop", ["read"], days=1)
    assert key.expires_at == START + timedelta(days=1)
    clock.advance(hours=23)
    await identity.authenticate(secret)
    clock.advance(hours=1)
    error = await refusal(identity, secret)
    assert error.message == (await refusal(identity, "dak_unknown")).message
    assert "expired" in error.hint


async def test_a_key_gives_no_scope_that_its_maker_lacks(identity: IdentityService, owner: Actor) -> None:
    reader = with_scopes(owner, Scope.READ)
    with pytest.raises(MissingScopeError) as caught:
        await identity.create_key(reader, "more", ["read", "write"])
    assert caught.value.details["scope"] == "write"
    _, secret = await identity.create_key(reader, "same", ["read"])
    assert (await identity.authenticate(secret)).scopes == {Scope.READ}


async def test_a_person_gives_the_scope_purge_by_name_and_no_other_scope_implies_it(
    identity: IdentityService, owner: Actor
) -> None:
    _, secret = await identity.create_key(owner, "all", sorted(ALL_SCOPES))
    whole = Actor(await identity.authenticate(secret))
    assert Scope.PURGE not in owner.principal.scopes | whole.principal.scopes
    with pytest.raises(MissingScopeError) as caught:
        await identity.create_key(whole, "more", ["purge"])
    assert caught.value.details["scope"] == "purge"

    cleaner, secret = await identity.create_key(owner, "cleaner", ["delete", "purge"])
    assert (await identity.authenticate(secret)).scopes == {Scope.DELETE, Scope.PURGE}
    with pytest.raises(MissingScopeError):
        await identity.revoke_key(whole, cleaner.id)
    assert (await identity.change_scopes(owner, cleaner.id, ["delete"])).scopes == ("delete",)
    assert (await identity.change_scopes(owner, cleaner.id, ["purge"])).scopes == ("purge",)
    await identity.revoke_key(owner, cleaner.id)


async def test_a_key_does_not_outlive_the_key_that_made_it(identity: IdentityService, owner: Actor) -> None:
    _, secret = await identity.create_key(owner, "short", list(ALL_SCOPES), days=2)
    short = Actor(await identity.authenticate(secret))
    for days, expected in ((None, 2), (30, 2), (1, 1)):
        key, _ = await identity.create_key(short, "child", ["read"], days)
        assert key.expires_at == START + timedelta(days=expected)


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "line\nbreak", "\u202egnp", "\ud800", "n" * 101])
async def test_a_hostile_key_name_is_refused(identity: IdentityService, owner: Actor, name: str) -> None:
    with pytest.raises(InvalidInputError):
        await identity.create_key(owner, name, ["read"])


@pytest.mark.parametrize("scopes", [[], ["admin"], ["read", "READ"], "read,write", [""]])
async def test_an_unknown_scope_is_refused(identity: IdentityService, owner: Actor, scopes: Any) -> None:
    with pytest.raises(InvalidInputError):
        await identity.create_key(owner, "key", scopes)


@pytest.mark.parametrize("days", [0, -1, 3651, 10**12, True])
async def test_an_impossible_number_of_days_is_refused(identity: IdentityService, owner: Actor, days: int) -> None:
    with pytest.raises(InvalidInputError):
        await identity.create_key(owner, "key", ["read"], days)


async def test_keys_are_listed_newest_first_and_without_secrets(
    identity: IdentityService, owner: Actor, clock: SettableClock, database: Database
) -> None:
    clock.advance(minutes=5)
    key, secret = await identity.create_key(owner, "笔记本 💻", ["write", "read"])
    listed = await identity.list_keys(owner)
    assert [entry.name for entry in listed] == ["笔记本 💻", "local access token"]
    assert listed[0] == key
    assert (key.scopes, secret[: len(key.prefix)]) == (("read", "write"), key.prefix)
    async with database.read() as session:
        row = await session.get(ApiKeyRow, key.id)
    assert row is not None
    assert secret not in {str(value) for value in vars(row).values()}


async def test_somebody_elses_key_is_not_found_and_goes_on_working(identity: IdentityService, owner: Actor) -> None:
    _, secret = await identity.create_user(owner, "ana@example.com")
    ana = Actor(await identity.authenticate(secret))
    hers = (await identity.list_keys(ana))[0]
    errors: list[dict[str, Any]] = []
    for key_id in (hers.id, "0" * 32, "", "\ud800", "' OR 1=1 --", "\x00"):
        with pytest.raises(NotFoundError) as caught:
            await identity.revoke_key(owner, key_id)
        errors.append(caught.value.to_dict())
    assert all(error == errors[0] for error in errors)
    await identity.authenticate(secret)


async def test_a_weaker_key_can_not_end_a_stronger_one(identity: IdentityService, owner: Actor) -> None:
    strong, secret = await identity.create_key(owner, "strong", list(ALL_SCOPES))
    with pytest.raises(MissingScopeError):
        await identity.revoke_key(with_scopes(owner, Scope.READ), strong.id)
    await identity.authenticate(secret)


async def test_revoking_twice_keeps_the_first_time(
    identity: IdentityService, owner: Actor, clock: SettableClock
) -> None:
    key, _ = await identity.create_key(owner, "laptop", ["read"])
    first = await identity.revoke_key(owner, key.id)
    clock.advance(hours=1)
    assert await identity.revoke_key(owner, key.id) == first
    assert first.revoked_at == START


async def test_use_of_a_key_is_noted_at_most_once_a_minute(
    identity: IdentityService, owner: Actor, clock: SettableClock
) -> None:
    key, secret = await identity.create_key(owner, "laptop", ["read"])
    assert key.last_used_at is None
    noted: list[datetime | None] = []
    for seconds in (0, 59, 1):
        clock.advance(seconds=seconds)
        await identity.authenticate(secret)
        noted.append(next(entry.last_used_at for entry in await identity.list_keys(owner) if entry.id == key.id))
    assert noted == [START, START, START + timedelta(seconds=60)]


async def test_a_use_of_a_key_reaches_other_processes_when_it_is_written_and_never_goes_back(
    identity: IdentityService, database: Database, tmp_path: Path, owner: Actor, clock: SettableClock
) -> None:
    other = IdentityService(database, tmp_path / "token", clock)
    key, secret = await identity.create_key(owner, "laptop", ["read"])

    async def last_use() -> datetime | None:
        return next(entry.last_used_at for entry in await other.list_keys(owner) if entry.id == key.id)

    await identity.authenticate(secret)
    assert await last_use() is None
    clock.advance(minutes=2)
    await other.authenticate(secret)
    await other.uses.flush()
    await identity.uses.flush()
    assert await last_use() == START + timedelta(minutes=2)


async def test_an_in_process_principal_has_just_the_scopes_it_is_given(identity: IdentityService, owner: Actor) -> None:
    principal = await identity.principal_for(owner.user_id, ["read", "share"])
    assert principal == Principal(owner.user_id, "me@localhost", frozenset({Scope.READ, Scope.SHARE}), "in_process")
    with pytest.raises(InvalidInputError):
        await identity.principal_for(owner.user_id, ["root"])
    with pytest.raises(UnauthenticatedError):
        await identity.principal_for("nobody", ["read"])


async def test_a_key_gives_no_scopes_to_one_that_outlives_it(identity: IdentityService, clock: SettableClock) -> None:
    owner = await local_owner(identity)
    _, secret = await identity.create_key(owner, "a day", ALL_SCOPES, 1)
    short = Actor(await identity.authenticate(secret))
    lasting, _ = await identity.create_key(owner, "lasting", ["read", "write"])
    week, _ = await identity.create_key(owner, "a week", ["read"], 7)
    clock.advance(hours=1)
    own, _ = await identity.create_key(short, "as short", ["read"], 7)

    for key in (lasting, week):
        with pytest.raises(StateConflictError):
            await identity.change_scopes(short, key.id, ["read", "delete"])
    assert (await identity.change_scopes(short, lasting.id, ["read"])).scopes == ("read",)
    assert (await identity.change_scopes(short, own.id, ["read", "delete"])).scopes == ("delete", "read")
    assert (await identity.change_scopes(owner, week.id, ["delete"])).scopes == ("delete",)


@pytest.mark.parametrize(
    "email", ["ſam@example.com", "\u212aate@example.com", "strasse@ſpam.example", "ﬁn@example.com"]
)
async def test_a_lookalike_address_is_nobodys(drive_settings: DriveSettings, email: str) -> None:
    async with (
        issuing() as issuer,
        open_drive(drive_settings.model_copy(update={"jwt_issuer": issuer.url, "jwt_create_users": True})) as drive,
    ):
        for address in ("sam@example.com", "kate@example.com", "strasse@spam.example", "fin@example.com"):
            await new_person(drive.identity, address)
        with pytest.raises(UnauthenticatedError):
            await drive.identity.authenticate(issuer.token(email=email))
        assert (await drive.identity.authenticate(issuer.token(email="SAM@Example.com"))).email == "sam@example.com"
