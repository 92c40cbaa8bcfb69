"""Tools for access: who else may see or change an item."""

from typing import Annotated

from mcp.types import CallToolResult

from drive_server.drive import Drive
from drive_server.tools.annotations import OVERWRITES, READS
from drive_server.tools.arguments import Email, GivenRole, ItemRef
from drive_server.tools.calls import Call, answer, changed
from drive_server.tools.results import ShareResult, SharesResult
from drive_server.tools.texts import counted
from drive_server.tools.toolbox import Toolbox


class SharingTools:
    """The tools, each named as its method; its docstring is what a model reads of it."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    async def share_item(
        self, call: Call, item_id: ItemRef, email: Email, role: GivenRole = "viewer"
    ) -> Annotated[CallToolResult, ShareResult]:
        """Give a person access to a file, or to a folder with all that is in it.

        Use when: the owner asks for somebody to see (viewer) or to change (editor) something.
        Not for: finding out who has access (list_shares); taking access back (revoke_share).
        Notes: needs the owner; a person who has a role on it gets this one instead; an email without an account here is
        kept, and holds once there is one.
        """
        actor = await call.actor()
        outcome = await call.agreed(actor, lambda agreed: self._drive.sharing.share(agreed, item_id, email, role))
        share = outcome.value
        return changed(actor, outcome, f"Shared: {share.email} is now {share.role}.", ShareResult.of(share))

    async def list_shares(self, call: Call, item_id: ItemRef) -> Annotated[CallToolResult, SharesResult]:
        """List who has access to a file or folder besides its owner, and with which role.

        Use when: the person asks who can see or change something.
        Not for: what others shared with the person (list_folder of `shared`).
        Notes: needs the role editor; `inherited_from` names the folder above that the access comes from.
        """
        actor = await call.actor()
        shares = [ShareResult.of(share) for share in await self._drive.sharing.list_shares(actor, item_id)]
        people = counted(len(shares), "person") if len(shares) == 1 else f"{len(shares):,} people"
        lines = [f"- {share.email}: {share.role}" for share in shares]
        return answer(
            actor, f"Shared with {people if shares else 'nobody'}.", SharesResult(shares=shares), "\n".join(lines)
        )

    async def revoke_share(self, call: Call, item_id: ItemRef, email: Email) -> Annotated[CallToolResult, ShareResult]:
        """Take back the access that a person was given on a file or folder.

        Use when: the owner wants somebody to see or change something no more.
        Not for: changing viewer to editor or back (share_item with the other role).
        Notes: needs the owner; access that comes from a folder above is taken back there, and the answer says where.
        """
        actor = await call.actor()
        outcome = await call.agreed(actor, lambda agreed: self._drive.sharing.revoke(agreed, item_id, email))
        share = outcome.value
        return changed(actor, outcome, f"{share.email} is {share.role} no more.", ShareResult.of(share))


def register(box: Toolbox, drive: Drive) -> None:
    """Put the tools into the box."""
    tools = SharingTools(drive)
    box.put(tools.share_item, "Share an item", OVERWRITES)
    box.put(tools.list_shares, "List who has access", READS)
    box.put(tools.revoke_share, "Take back access", OVERWRITES)
