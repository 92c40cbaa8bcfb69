"""The strength of a proof, and whether it is recent enough to make another one."""

from datetime import datetime, timedelta
from typing import Final

from drive_server.kernel.access import Principal
from drive_server.kernel.errors import ForbiddenError, FreshProofNeededError
from drive_server.kernel.messages import Message

SESSION: Final = "session"
PERSONAL: Final = frozenset({"password", "passkey", "oidc"})
"""Proofs that a person gives anew whenever they log in: none of them ends by itself."""
_STRENGTHS: Final = {"jwt": 1, "api_key": 2, "token": 2, "password": 3, "oidc": 3, "passkey": 4}


def proof_of(principal: Principal) -> str:
    """Return how the caller proved who they are; of a session, how it was opened."""
    return principal.proof or principal.method


def is_fresh(principal: Principal, now: datetime, within: timedelta) -> bool:
    """Return whether the caller proved who they are `within` this time.

    A key or token proves it with each request. A browser's session stands for a proof of a moment in the past.
    """
    if principal.method != SESSION:
        return True
    # The distance in both directions: a clock that was put back makes no old proof fresh.
    return principal.proved_at is not None and abs(now - principal.proved_at) <= within


def require_fresh(principal: Principal, now: datetime, within: timedelta) -> None:
    """Raise `FreshProofNeededError` unless the caller `is_fresh`."""
    if not is_fresh(principal, now, within):
        raise FreshProofNeededError(Message.of("fresh_proof_needed"))


def is_as_strong(proof: str, opened: str) -> bool:
    """Return whether a proof of this kind is no weaker than the one by which a session was opened."""
    return _STRENGTHS.get(proof, 0) >= _STRENGTHS.get(opened, 0)


def require_as_strong(session: Principal, proof: Principal) -> None:
    """Raise `ForbiddenError` unless the new proof is the same person's, and no weaker than the session's."""
    if proof.user_id != session.user_id:
        raise ForbiddenError(Message.of("other_person"))
    # A session shown as a token proves nothing that the browser did not have before.
    is_weak = proof.method == SESSION or not is_as_strong(proof_of(proof), proof_of(session))
    if is_weak or session.scopes - proof.scopes:
        raise ForbiddenError(Message.of("weaker_proof"))
