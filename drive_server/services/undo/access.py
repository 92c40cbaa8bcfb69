"""How a change of who has access is taken back: a share with a person, a link."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from drive_server.access import Role
from drive_server.messages import Message
from drive_server.services.journal.recorder import Entry
from drive_server.services.sharing.links import ANYONE
from drive_server.services.tree.located import Located
from drive_server.services.undo.context import Kept, UndoContext
from drive_server.storage.tables import ChangeRow, LinkRow, ShareRow

LINK_TERMS = ("role", "password_hash", "expires_at", "max_downloads")


@dataclass(frozen=True, slots=True)
class AccessSteps:
    """The steps of one undo that give and take access. Only the owner of an item may."""

    context: UndoContext

    async def share(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back that a role was given, changed or taken away."""
        before, after = entry["before"], entry["after"]
        given = after or before
        located = await self.context.locate(given["node_id"], Role.OWNER)
        query = select(ShareRow).where(ShareRow.node_id == given["node_id"], ShareRow.email == given["email"])
        row = (await self.context.writing.session.execute(query)).scalar_one_or_none()
        if (row.role if row else None) != (after["role"] if after else None):
            raise await self.context.changed_since(change, located)
        await self._put_back_share(located, entry["id"], row, before, given["email"])
        return True

    async def link(self, change: ChangeRow, entry: Entry) -> bool:
        """Take back that a link was made, changed or revoked. How often it was used is no change."""
        before, after = entry["before"], entry["after"]
        located = await self.context.locate((after or before)["node_id"], Role.OWNER)
        row = await self.context.writing.session.get(LinkRow, entry["id"])
        if _terms_of(row, after) != _terms(after):
            raise await self.context.changed_since(change, located)
        await self._put_back_link(located, entry["id"], row, before)
        return True

    async def _put_back_share(
        self, located: Located, share_id: str, row: ShareRow | None, before: Entry | None, email: str
    ) -> None:
        writing = self.context.writing
        if row and before:
            writing.touch(row)
            row.role = before["role"]
            self.context.show(located, Message.of("role_given_back", email=email))
        elif row:
            await writing.remove(row)
            writing.loses_access.append(email)
            self.context.show(located, Message.of("no_longer_shared", email=email))
        elif before:
            again = {"node_id": located.id, "email": email, "role": before["role"], "created_by": before["created_by"]}
            writing.add(ShareRow(id=share_id, created_at=writing.now, **again))
            writing.gains_access.append(email)
            self.context.show(located, Message.of("shared_again", email=email))
        await writing.session.flush()

    async def _put_back_link(self, located: Located, link_id: str, row: LinkRow | None, before: Entry | None) -> None:
        writing = self.context.writing
        if row and before:
            writing.touch(row)
            for term, value in _terms(before).items():
                setattr(row, term, value)
            self.context.show(located, Message.of("link_terms_back"))
        elif row:
            await writing.remove(row)
            writing.loses_access.append(ANYONE)
            self.context.show(located, Message.of("link_closed"))
        elif before:
            again = LinkRow(id=link_id, **{key: _value(key, value) for key, value in before.items() if key != "id"})
            if again.expires_at and again.expires_at <= writing.now:
                raise Kept(Message.of("link_expired"))
            writing.add(again)
            writing.gains_access.append(ANYONE)
            self.context.show(located, Message.of("link_open_again"))
        await writing.session.flush()


def _terms(entry: Entry | None) -> dict[str, Any]:
    """Return the terms that the entry tells of: all of a link that was made, the ones that changed of another."""
    return {term: _value(term, entry[term]) for term in LINK_TERMS if term in entry} if entry else {}


def _terms_of(row: LinkRow | None, entry: Entry | None) -> dict[str, Any] | None:
    """Return the link's terms of now, as far as the entry tells of them; None if one of the two is not there."""
    if row is None or entry is None:
        return {} if row is None and entry is None else None
    return {term: getattr(row, term) for term in _terms(entry)}


def _value(key: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if key.endswith("_at") and value is not None else value
