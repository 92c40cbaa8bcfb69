"""People who call the drive in tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from drive_server.access import Actor, Scope

if TYPE_CHECKING:
    from drive_server.services.identity.service import IdentityService


async def local_owner(identity: IdentityService) -> Actor:
    """Return the administrator who owns the drive, as the local access token proves them."""
    _, token = await identity.ensure_local_user()
    return Actor(await identity.authenticate(token))


async def new_person(identity: IdentityService, email: str) -> Actor:
    """Make an account and return its person, with a key that has all scopes."""
    _, secret = await identity.create_user(await local_owner(identity), email)
    return Actor(await identity.authenticate(secret))


def with_scopes(actor: Actor, *scopes: Scope) -> Actor:
    """Return the same person with a key that has just these scopes."""
    return replace(actor, principal=replace(actor.principal, scopes=frozenset(scopes)))


def rehearsing(actor: Actor) -> Actor:
    """Return the same call as a dry run."""
    return replace(actor, dry_run=True)
