"""The check at the end of an import: the items in the drive now, beside those of the export."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from api.cli.client import ServiceClient
    from api.cli.exports.table import ItemTable

BY_HERE: Final = "SELECT id, body, here_name, parent_id, is_new FROM items WHERE here = ?"
LINK: Final = "link"
GROUP: Final = "group:"
MOMENTS: Final = ("created_at", "updated_at", "modified_at")
"""The dates of an item; exports of earlier versions have no date of the content."""


@dataclass(slots=True)
class Comparison:
    """A sentence for each item that is not as in the export: `changed` are those that were there before."""

    problems: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])


def compare(client: ServiceClient, table: ItemTable, lacking: Mapping[str, Sequence[str]]) -> Comparison:
    """Compare the restored items; `lacking` is the access to items, by their ids, that could not be given again."""
    table.connection.execute("CREATE INDEX IF NOT EXISTS items_here ON items (here)")
    found, seen = Comparison(), 0
    for item in client.pages("/api/drive/export"):
        row = table.connection.execute(BY_HERE, (item["id"],)).fetchone()
        if row is None:
            continue
        seen += 1
        wanted = {**json.loads(row[1]), "name": row[2], "parent_id": table.here(row[3])}
        if different := [*_differences(item, wanted, table, lacking.get(row[0], ()))]:
            sentence = text("differs", name=wanted["name"], what=", ".join(map(text, different)))
            (found.problems if row[4] else found.changed).append(sentence)
    if missing := table.count("here IS NOT NULL") - seen:
        found.problems.append(text("not_there", count=missing))
    return found


def _differences(
    item: dict[str, Any], wanted: dict[str, Any], table: ItemTable, lacking: Sequence[str]
) -> Iterator[str]:
    """Yield the differences of an item, by the codes of the words for them."""
    here = [_version(version) for version in item["versions"]]
    there = [_version(version) for version in wanted["versions"]]
    # A drive that keeps fewer versions has the newest ones.
    fits = here == (there[-len(here) :] if here else there)
    roles = _roles(item["shares"])
    given = _roles(share for share in wanted["shares"] if share["email"] not in lacking)
    links, wanted_links = _links(item), _links(wanted)
    checks = (
        ("what_name", item["name"] == wanted["name"]),
        ("what_folder", wanted["parent_id"] is None or item["parent_id"] == wanted["parent_id"]),
        ("what_content", fits),
        ("what_time", all(_moment(item[at]) == _moment(wanted[at]) for at in MOMENTS if at in wanted)),
        ("what_trash", item["trash_id"] == table.here(wanted["trash_id"])),
        ("what_star", bool(item["starred_at"]) == bool(wanted["starred_at"])),
        ("what_role", roles == given),
        ("what_link", links <= wanted_links and links.total() == wanted_links.total() - lacking.count(LINK)),
    )
    yield from (what for what, is_same in checks if not is_same)


def _version(version: dict[str, Any]) -> tuple[Any, ...]:
    return version["number"], version["sha256"], version["size"], _moment(version["created_at"])


def _links(item: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    return Counter(
        (link["role"], link["has_password"], link["expires_at"], link["max_downloads"]) for link in item["links"]
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def is_group(address: str) -> bool:
    """Return whether a share's address is a group's."""
    return address.startswith(GROUP)


def _roles(shares: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the roles by address; a group of the same name may be written in other letters here."""
    return {
        unicodedata.normalize("NFKC", address).casefold() if is_group(address := share["email"]) else address: share[
            "role"
        ]
        for share in shares
    }
