"""Refuse a key that decides about a run without the scopes that the run acts with."""

from collections.abc import Iterable

from api.drive import Principal
from api.errors import MissingScopeError
from graph.policy.bounds import ActionKind


def require_scopes(caller: Principal, scopes: Iterable[str]) -> None:
    """Raise `MissingScopeError` unless the caller has all of these scopes, with which a run or a grant acts."""
    if lacking := sorted({str(scope) for scope in scopes} - {str(scope) for scope in caller.scopes}):
        raise MissingScopeError(lacking[0])


def scopes_of(kinds: Iterable[ActionKind]) -> set[str]:
    """Return the scopes that actions of these kinds need in the drive."""
    return {"delete" if kind == "trash" else "write" for kind in kinds}


def key_of(caller: Principal) -> str:
    """Return the name of the caller's key, or the sign-in method if there is none."""
    return caller.key_name or caller.method
