"""People who call the drive in tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from drive_server.kernel.access import Actor, Scope
from drive_server.services.identity.service import IdentityService
from drive_server.storage.drive_database import open_database

if TYPE_CHECKING:
    from drive_server.kernel.settings import DriveSettings


async def local_owner(identity: IdentityService) -> Actor:
    """Return the administrator who owns the drive, as the local access token proves them."""
    _, token = await identity.ensure_local_user()
    return Actor(await identity.authenticate(token))


async def local_token(settings: DriveSettings) -> str:
    """Return the access token of a drive that another process serves; it is made if that has made none."""
    if settings.is_embedded:
        return settings.token_path.read_text().strip()
    database = await open_database(settings.resolved_database_url)
    try:
        return (await IdentityService(database, settings.token_path).ensure_local_user())[1]
    finally:
        await database.dispose()


async def new_person(identity: IdentityService, email: str) -> Actor:
    """Make an account and return its person, with a key that has all scopes."""
    _, secret = await identity.create_user(await local_owner(identity), email)
    return Actor(await identity.authenticate(secret))


def with_scopes(actor: Actor, *scopes: Scope) -> Actor:
    """Return the same person with a key that has just these scopes."""
    return replace(actor, principal=replace(actor.principal, scopes=frozenset(scopes)))


def purging(actor: Actor) -> Actor:
    """Return the same person with a key by which a host that can't ask may delete for good."""
    return with_scopes(actor, *Scope)


def rehearsing(actor: Actor) -> Actor:
    """Return the same call as a dry run."""
    return replace(actor, dry_run=True)
