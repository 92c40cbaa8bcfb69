"""Deletion for good by a host: nothing brings it back, so a person agrees to it, or made a key for it."""

from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.errors import MissingScopeError
from drive_server.kernel.messages import Message
from drive_server.mcp.calls.authentication import IN_PROCESS
from drive_server.services.identity.keys import LOCAL_METHOD


def require_purge(actor: Actor, *, is_asked: bool) -> None:
    """Raise `MissingScopeError` unless the host asks its person, or has a key that was made with the scope `purge`.

    The local access token stands for no program in particular: with it no host deletes for good. The assistant inside
    this process has approvals of its own, a rehearsal deletes nothing, and a key without the scope `delete` is refused
    for that.
    """
    caller = actor.principal
    if actor.dry_run or caller.method == IN_PROCESS or Scope.DELETE not in caller.scopes:
        return
    details = {"scope": Scope.PURGE.value}
    if caller.method == LOCAL_METHOD:
        raise MissingScopeError(Message.of("purge_without_key"), details=details)
    if not is_asked and Scope.PURGE not in caller.scopes:
        raise MissingScopeError(Message.of("purge_unasked"), details=details)
