"""The dates of contents, as their senders gave them, and the checksums by which WebDAV clients compare them."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAV_DATE = "{DAV:}getlastmodified"
MOMENT = sa.DateTime(timezone=True)
NODES = sa.table(
    "nodes", *(sa.column(name) for name in ("id", "kind", "version")), sa.column("modified_at", MOMENT),
    sa.column("updated_at", MOMENT),
)  # fmt: skip
VERSIONS = sa.table(
    "versions", sa.column("node_id"), sa.column("number"), sa.column("modified_at", MOMENT),
    sa.column("created_at", MOMENT),
)  # fmt: skip
PROPERTIES = sa.table("dav_properties", sa.column("node_id"), sa.column("name"), sa.column("value"))


def upgrade() -> None:
    """Add the columns. A content without a date from a WebDAV client is of the time when it came into the drive."""
    for table in ("nodes", "versions"):
        op.add_column(table, sa.Column("modified_at", MOMENT, nullable=False, server_default="1970-01-01 00:00:00"))
    op.add_column("versions", sa.Column("checksums", sa.String(100)))
    op.add_column("uploads", sa.Column("modified_at", MOMENT))
    op.execute(sa.update(VERSIONS).values(modified_at=VERSIONS.c.created_at))
    _take_dates_of_clients()
    current = (VERSIONS.c.node_id == NODES.c.id) & (VERSIONS.c.number == NODES.c.version)
    own = sa.select(VERSIONS.c.modified_at).where(current).scalar_subquery()
    op.execute(sa.update(NODES).values(modified_at=sa.func.coalesce(own, NODES.c.updated_at)))


def downgrade() -> None:
    """Drop them; the dates of WebDAV clients are lost."""
    op.drop_column("uploads", "modified_at")
    op.drop_column("versions", "checksums")
    for table in ("versions", "nodes"):
        op.drop_column(table, "modified_at")


def _take_dates_of_clients() -> None:
    """Move the dates of WebDAV clients, `seconds version`, from the properties to the versions."""
    connection = op.get_bind()
    is_date = PROPERTIES.c.name == DAV_DATE
    found = connection.execute(sa.select(PROPERTIES.c.node_id, PROPERTIES.c.value).where(is_date)).all()
    dated = sa.update(VERSIONS).where(
        VERSIONS.c.node_id == sa.bindparam("file"), VERSIONS.c.number == sa.bindparam("newest")
    )
    values = [_dated(row.node_id, *map(int, row.value.split())) for row in found]
    if values:
        connection.execute(dated.values(modified_at=sa.bindparam("at")), values)
    connection.execute(sa.delete(PROPERTIES).where(is_date))


def _dated(file: str, seconds: int, newest: int) -> dict[str, object]:
    return {"file": file, "newest": newest, "at": EPOCH + timedelta(seconds=seconds)}
