"""One server, three transports: a host sees the same over each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drive_server.connect import in_process_session
from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote
from tests.drive_server.test_main import over_stdio

if TYPE_CHECKING:
    from mcp import ClientSession

    from drive_server.kernel.settings import DriveSettings

LISTS = ("list_tools", "list_resources", "list_resource_templates", "list_prompts")


async def shown(session: ClientSession) -> dict[str, Any]:
    """Return all that a session lists, page by page."""
    found: dict[str, Any] = {}
    for name in LISTS:
        pages: list[Any] = []
        cursor: str | None = None
        while not pages or cursor:
            page = await getattr(session, name)(cursor)
            cursor = page.nextCursor
            pages.append(without_icons(page.model_dump(mode="json", exclude={"nextCursor"})))
        found[name] = pages
    return found


def without_icons(page: dict[str, Any]) -> dict[str, Any]:
    """Return a page without icons: their addresses begin where each transport knows the service to be."""
    lists = [value for value in page.values() if isinstance(value, list)]
    for one in (one for entries in lists for one in entries):
        del one["icons"]
    return page


@pytest.mark.parametrize("page_size", [1000, 7])
async def test_the_lists_are_the_same_over_all_transports(drive_settings: DriveSettings, page_size: int) -> None:
    settings = drive_settings.model_copy(update={"page_size": page_size})
    async with running(settings) as service:
        principal = await service.drive.identity.authenticate(service.token)
        async with remote(service, service.token) as host:
            over_http = await shown(host.session)
        async with in_process_session(service.drive, principal) as session:
            in_process = await shown(session)
        async with over_stdio(settings, DRIVE_API_KEY=service.token, DRIVE_PAGE_SIZE=str(page_size)) as host:
            from_process = await shown(host.session)

    assert over_http == in_process
    assert over_http == from_process
    assert all(page["tools"] for page in over_http["list_tools"])
