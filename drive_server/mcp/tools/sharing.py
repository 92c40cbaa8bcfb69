"""Tools for access: who else may see or change an item, by their email or by a link."""

from typing import Annotated, Final

from mcp.types import CallToolResult

from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.errors import InvalidInputError
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer, changed
from drive_server.mcp.results import ListResult, ShareResult, SharesResult
from drive_server.mcp.tools.definition.arguments import (
    Cursor,
    Email,
    GivenRole,
    ItemRef,
    LinkHours,
    LinkId,
    LinkPassword,
    MostDownloads,
    OptionalEmail,
    OptionalRole,
    PageSize,
    TermsToRemove,
)
from drive_server.mcp.tools.definition.spec import EDITS, OVERWRITES, READS, ToolGroup, ToolSpec, records
from drive_server.mcp.tools.definition.texts import counted, item_lines, page_text
from drive_server.models.access import Link, Share
from drive_server.models.base import Page
from drive_server.models.changes import Outcome
from drive_server.services.sharing.links import LinkTerms
from drive_server.services.tree.grantees import is_group
from drive_server.services.tree.names import display_name

_WAITS: Final = (
    " There is no account with this email here: nobody was told, and the access waits until there is one. Tell the "
    "person, and offer a link (create_share_link), which works without an account."
)


class SharingTools(ToolGroup):
    """Give, list, change and take back access."""

    icon = icons.PEOPLE
    label = "sharing"

    @records("share", "share")
    @ToolSpec(Scope.SHARE, "network", "medium", OVERWRITES, is_core=True)
    async def share_item(
        self, call: Call, item_id: ItemRef, email: Email, role: GivenRole = "viewer"
    ) -> Annotated[CallToolResult, ShareResult]:
        """Give a person access to a file, or to a folder with all that is in it.

        Use when: the owner asks for somebody to see (viewer) or to change (editor) something.
        Not for: access for people without an account (create_share_link); finding out who has access (list_shares);
        taking access back (revoke_share).
        Notes: needs the owner; a person who has a role on it gets this one instead. With `has_account` false nobody was
        told, and the access waits until the email has an account: say so, and offer a link.
        """
        actor = await call.actor()
        outcome = await call.agreed(actor, lambda agreed: self._drive.sharing.share(agreed, item_id, email, role))
        share = outcome.value
        waits = _WAITS if share.has_account is False else ""
        return changed(actor, outcome, f"Shared: {share.email} is now {share.role}.{waits}", ShareResult.of(share))

    @records("share", "create_link")
    @ToolSpec(Scope.SHARE, "network", "high", EDITS)
    async def create_share_link(
        self,
        call: Call,
        item_id: ItemRef,
        role: GivenRole = "viewer",
        expires_in_hours: LinkHours = None,
        password: LinkPassword = None,
        max_downloads: MostDownloads = None,
    ) -> Annotated[CallToolResult, ShareResult]:
        """Make a link by which anyone who has it can open a file, or a folder with all that is in it.

        Use when: the owner wants to give access to people without an account here, or to whoever gets the address.
        Not for: access for one person with an email address (share_item); a short-lived address for one file
        (get_download_url).
        Notes: needs the owner; `url` is the address to pass on, list_shares shows it again; without an expiry it holds
        until revoke_share ends it; each file that is fetched counts as a download.
        """
        actor = await call.actor()
        terms = LinkTerms(role, expires_in_hours, password, max_downloads)
        outcome = await call.agreed(actor, lambda agreed: self._drive.links.create(agreed, item_id, terms))
        link = outcome.value
        return changed(actor, outcome, f"Made a link ({_terms(link)}): {link.url}", ShareResult.of(link))

    @ToolSpec(Scope.READ, "query", "low", READS)
    async def list_shares(
        self, call: Call, item_id: ItemRef, limit: PageSize = 100, cursor: Cursor = None
    ) -> Annotated[CallToolResult, SharesResult]:
        """List who has access to a file or folder besides its owner: people and links, each with their role.

        Use when: the person asks who can see or change something, or for the address of a link.
        Not for: items that others shared with the person (list_shared_with_me).
        Notes: needs the role editor; `inherited_from` names the folder above that the access comes from; addresses of
        links are told to the owner.
        """
        actor = await call.actor()
        page = await self._drive.links.list_access(actor, item_id, limit, cursor)
        lines = "\n".join(f"- {_line(entry)}" for entry in page.items)
        return answer(actor, _summary(page), SharesResult.of(page), lines)

    @records("share", "update_share", "update_link")
    @ToolSpec(Scope.SHARE, "network", "medium", OVERWRITES)
    async def update_share(
        self,
        call: Call,
        item_id: ItemRef,
        email: OptionalEmail = None,
        link_id: LinkId = None,
        role: OptionalRole = None,
        expires_in_hours: LinkHours = None,
        password: LinkPassword = None,
        max_downloads: MostDownloads = None,
        remove: TermsToRemove = [],  # noqa: B006 - pydantic copies it; a schema with null says less
    ) -> Annotated[CallToolResult, ShareResult]:
        """Change the role of a person, or the role and terms of a link, on a file or folder.

        Use when: somebody shall be able to do more or less than now, or a link needs another expiry, password or limit.
        Not for: giving access for the first time (share_item, create_share_link); ending it (revoke_share).
        Notes: needs the owner; name a person by `email` or a link by `link_id`; for a person there is only the role;
        arguments left out keep their values.
        """
        actor = await call.actor()
        terms = LinkTerms(role, expires_in_hours, password, max_downloads, frozenset(remove))
        if _is_link(email, link_id):
            return await self._update_link(call, actor, item_id, link_id or "", terms)
        if role is None or terms != LinkTerms(role):
            raise InvalidInputError("A person's access has a role and nothing else.", hint="Give the new role.")
        outcome = await call.agreed(
            actor, lambda agreed: self._drive.sharing.update(agreed, item_id, email or "", role)
        )
        share = outcome.value
        return changed(actor, outcome, f"Changed: {share.email} is now {share.role}.", ShareResult.of(share))

    @records("share", "leave", "revoke", "revoke_link")
    @ToolSpec(Scope.SHARE, "network", "low", OVERWRITES)
    async def revoke_share(
        self, call: Call, item_id: ItemRef, email: OptionalEmail = None, link_id: LinkId = None
    ) -> Annotated[CallToolResult, ShareResult]:
        """Take back the access that a person was given on a file or folder, or end a link to it, or leave a share.

        Use when: the owner wants somebody to see or change something no more; or the person wants to leave an item that
        others shared with them: then `email` is the person's own.
        Not for: changing viewer to editor or back, or the terms of a link (update_share).
        Notes: needs the owner, but for one's own share; name a person by `email` or a link by `link_id`; access that
        comes from a folder above is ended there, and the answer says where. It ends at once.
        """
        actor = await call.actor()
        if _is_link(email, link_id):
            ended = await call.agreed(actor, lambda agreed: self._drive.links.revoke(agreed, item_id, link_id or ""))
            return changed(actor, ended, f"The link is no more ({_terms(ended.value)}).", ShareResult.of(ended.value))
        outcome = await call.agreed(actor, lambda agreed: self._drive.sharing.revoke(agreed, item_id, email or ""))
        share = outcome.value
        is_own = share.email == actor.principal.email
        said = "You left what was shared with you" if is_own else f"{share.email} is {share.role} no more"
        return changed(actor, outcome, f"{said}.", ShareResult.of(share))

    @ToolSpec(Scope.READ, "query", "low", READS)
    async def list_shared_with_me(
        self, call: Call, limit: PageSize = 100, cursor: Cursor = None
    ) -> Annotated[CallToolResult, ListResult]:
        """List the items that others shared with the person: each file or folder with its owner and the person's role.

        Use when: the person asks what they were given, or looks for somebody else's file.
        Not for: items that the person shared with others (list_shares of that item).
        Notes: items inside a shared folder are not listed here; list_folder goes on from it.
        """
        actor = await call.actor()
        page = await self._drive.sharing.shared_with_me(actor, limit, cursor)
        return answer(actor, page_text(page, "item"), ListResult.of(page), lambda: item_lines(page.items))

    async def _update_link(
        self, call: Call, actor: Actor, item_id: str, link_id: str, terms: LinkTerms
    ) -> CallToolResult:
        async def update(agreed: Actor) -> Outcome[Link]:
            return await self._drive.links.update(agreed, item_id, link_id, terms)

        outcome = await call.agreed(actor, update)
        return changed(actor, outcome, f"Changed the link ({_terms(outcome.value)}).", ShareResult.of(outcome.value))


def _is_link(email: str | None, link_id: str | None) -> bool:
    if (email is None) == (link_id is None):
        raise InvalidInputError("Name one: a person by email, or a link by link_id.", hint="List the shares first.")
    return link_id is not None


def _summary(page: Page[Share | Link]) -> str:
    links = sum(isinstance(entry, Link) for entry in page.items)
    persons = len(page.items) - links
    people = counted(persons, "person") if persons == 1 else f"{persons:,} people"
    parts = [f"with {people}"] * bool(persons) + [f"by {counted(links, 'link')}"] * bool(links)
    more = f" For more, pass cursor {page.cursor}." if page.cursor else ""
    return f"Shared {' and '.join(parts) or 'with nobody'}.{more}"


def _line(entry: Share | Link) -> str:
    above = f", from {display_name(entry.inherited_from)}" if entry.inherited_from else ""
    if isinstance(entry, Share):
        return f"{'group' if is_group(entry.email) else 'person'} {entry.email}: {entry.role}{above}"
    address = f": {entry.url}" if entry.url else ""
    return f"link {entry.id} ({_terms(entry)}{above}){address}"


def _terms(link: Link) -> str:
    terms = [link.role]
    if link.expires_at:
        terms.append(f"until {link.expires_at:%Y-%m-%d %H:%M} UTC")
    if link.has_password:
        terms.append("with a password")
    if link.max_downloads is not None:
        terms.append(f"{link.downloads:,} of {link.max_downloads:,} downloads used")
    return ", ".join(terms)
