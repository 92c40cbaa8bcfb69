"""Deletion for good by a program that asked nobody: named as that in the journal, with a notice for the person."""

from typing import Final

from drive_server.kernel.messages import Message
from drive_server.services.journal.recorder import Recorder
from drive_server.storage.tables.sharing import NoticeRow

PROGRAMS: Final = frozenset({"api_key", "jwt"})
"""Sign-in methods of programs. The page and the terminal ask the person themselves before they delete for good."""
CHANGE: Final = "change:"
"""The beginning of the subject of a notice about a change; the id of the change follows."""


def name_unasked(recorder: Recorder) -> bool:
    """Say in the description of a change that nobody was asked, and return True, if that is so."""
    actor = recorder.actor
    is_asked = actor.approved_by is not None or actor.principal.method not in PROGRAMS
    if is_asked or recorder.reversible or recorder.message is None:
        return False
    key = actor.principal.key_name
    named = Message.of("change.unasked", change=recorder.message, key=key)
    recorder.message = named if key else Message.of("change.unasked_by_token", change=recorder.message)
    return True


def note_unasked(recorder: Recorder, change_id: int) -> None:
    """Note it for the person whose program it is, in the transaction of the change."""
    actor = recorder.actor
    row = NoticeRow(email=actor.principal.email, node_id=f"{CHANGE}{change_id}", by_user=actor.user_id)
    row.created_at = recorder.now
    recorder.session.add(row)
