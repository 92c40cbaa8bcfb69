"""Arguments by their earlier names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.hosts import WHOLE

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from tests.drive_server.hosts import Host


async def test_a_parent_folder_has_one_name_and_its_earlier_one_is_taken_but_not_listed(
    drive: Drive, alices: Host
) -> None:
    place = await alices.call("create_folder", name="Place")
    for name in ("folder_id", "parent_id"):
        made = await alices.call("create_folder", WHOLE, name=name, **{name: place["id"]})
        assert made["parent_id"] == place["id"]
        assert (await alices.call("create_file", name=f"{name}.md", content="", **{name: "/Place"}))["path"] == (
            f"/Place/{name}.md"
        )
    both = await alices.refused("create_folder", name="x", folder_id="root", parent_id="root")
    assert (both["code"], both["details"]) == ("invalid_argument", {"unknown": ["parent_id"]})
    assert "folder_id" in both["hint"]
    for tool in await drive.server.list_tools():
        assert "parent_id" not in tool.inputSchema["properties"], tool.name
