"""What is below a folder, in short: kept with a copy, to tell later whether the copy still is as it was made."""

from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

import orjson
from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.services.tree.located import BATCH
from drive_server.services.tree.nodes import descendants
from drive_server.storage.tables import NodeRow, VersionRow


class Leaf(NamedTuple):
    """An item below a folder: where it is, its name, and its content if it is a file."""

    id: str
    parent_id: str
    name: str
    blob: str | None


def fingerprint(leaves: Iterable[Leaf]) -> str:
    """Return a text that is the same for the same items, whatever their order."""
    return sha256(orjson.dumps([tuple(leaf) for leaf in sorted(leaves, key=lambda leaf: leaf.id)])).hexdigest()


async def leaves_below(session: AsyncSession, node_id: str) -> list[Leaf]:
    """Return what is live below the folder now."""
    below = descendants(node_id)
    content = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
    query = (
        select(below.c.id, below.c.parent_id, below.c.name, VersionRow.blob)
        .join(NodeRow, NodeRow.id == below.c.id)
        .outerjoin(VersionRow, content)
    )
    leaves: list[Leaf] = []
    async for rows in (await session.stream(query)).partitions(BATCH):
        leaves += [Leaf(*row) for row in rows]
    return leaves
