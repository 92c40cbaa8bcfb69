"""Quotas, links, resumable uploads, tasks, sign-ins from hosts, and the drive's own secret."""

import sqlalchemy as sa
from alembic import op

from drive_server.kernel.sql.schema import UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = ("secrets", "reads", "sign_ins", "tasks", "uploads", "links", "holdings")


def upgrade() -> None:
    """Add what is new, and count the bytes that people have already."""
    op.add_column("users", sa.Column("quota_bytes", sa.BigInteger(), nullable=True))
    op.add_column("users", sa.Column("used_bytes", sa.BigInteger(), nullable=False, server_default="0"))
    _holdings()
    _links()
    _uploads()
    _tasks()
    _sign_ins()
    _reads()
    _count()
    _index_entries()
    op.create_index("ix_nodes_parent", "nodes", ["parent_id"])


def downgrade() -> None:
    """Drop it all."""
    op.drop_index("ix_nodes_parent", "nodes")
    op.execute("DELETE FROM index_entries WHERE file_id NOT IN (SELECT id FROM nodes)")
    _index_entries(sa.ForeignKeyConstraint(["file_id"], ["nodes.id"]))
    op.drop_index("ix_nodes_recent", "nodes")
    for table in TABLES:
        op.drop_table(table)
    op.drop_column("users", "used_bytes")
    op.drop_column("users", "quota_bytes")


def _reads() -> None:
    op.create_table(
        "reads",
        sa.Column("user_id", sa.String(length=32), sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("node_id", sa.String(length=32), primary_key=True),
        sa.Column("at", UtcDateTime(), nullable=False),
    )
    op.create_index("ix_reads_recent", "reads", ["user_id", "at"])
    op.create_index("ix_nodes_recent", "nodes", ["owner_id", "updated_at"])


def _holdings() -> None:
    op.create_table(
        "holdings",
        sa.Column("owner_id", sa.String(length=32), sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("blob", sa.String(length=64), primary_key=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("versions", sa.Integer(), nullable=False),
    )


def _links() -> None:
    op.create_table(
        "links",
        sa.Column("id", sa.String(length=32), primary_key=True),
        sa.Column("node_id", sa.String(length=32), sa.ForeignKey("nodes.id"), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("max_downloads", sa.Integer(), nullable=True),
        sa.Column("downloads", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("created_by", sa.String(length=32), sa.ForeignKey("users.id"), nullable=False),
    )
    op.create_index("ix_links_node_id", "links", ["node_id"])


def _uploads() -> None:
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(length=32), primary_key=True),
        sa.Column("user_id", sa.String(length=32), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("parent", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("media_type", sa.String(length=255), nullable=True),
        sa.Column("on_conflict", sa.String(length=8), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=True),
        sa.Column("metadata_header", sa.String(), nullable=False),
        sa.Column("item_id", sa.String(length=32), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
    )
    op.create_index("ix_uploads_user_id", "uploads", ["user_id"])
    op.create_index("ix_uploads_expires", "uploads", ["expires_at"])


def _tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=32), primary_key=True),
        sa.Column("user_id", sa.String(length=32), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("caller", sa.JSON(), nullable=False),
        sa.Column("tool", sa.String(length=64), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("status_message", sa.String(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("worker", sa.String(length=32), nullable=True),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.UniqueConstraint("user_id", "idempotency_key"),
    )
    op.create_index("ix_tasks_user", "tasks", ["user_id", "created_at"])
    op.create_index("ix_tasks_status", "tasks", ["status"])


def _sign_ins() -> None:
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.String(length=32), primary_key=True),
        sa.Column("client_name", sa.String(length=255), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=True),
        sa.Column("declined_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=32), primary_key=True),
        sa.Column("value", sa.String(length=128), nullable=False),
    )


def _index_entries(*constraints: sa.ForeignKeyConstraint) -> None:
    """Let an entry outlive its file: the index has to let go of the passages of what was deleted for good."""
    op.drop_index("ix_index_entries_state", "index_entries")
    op.rename_table("index_entries", "index_entries_before")
    op.create_table(
        "index_entries",
        sa.Column("file_id", sa.String(length=32), nullable=False),
        sa.Column("owner_id", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("file_id"),
        *constraints,
    )
    columns = "file_id, owner_id, version, state, reason, attempts, updated_at"
    op.execute(f"INSERT INTO index_entries ({columns}) SELECT {columns} FROM index_entries_before")  # noqa: S608 - constants
    op.drop_table("index_entries_before")
    op.create_index("ix_index_entries_state", "index_entries", ["state"])


def _count() -> None:
    op.execute(
        "INSERT INTO holdings (owner_id, blob, size, versions) "
        "SELECT nodes.owner_id, versions.blob, MAX(versions.size), COUNT(*) "
        "FROM versions JOIN nodes ON nodes.id = versions.node_id GROUP BY nodes.owner_id, versions.blob"
    )
    op.execute(
        "UPDATE users SET used_bytes = "
        "(SELECT COALESCE(SUM(holdings.size), 0) FROM holdings WHERE holdings.owner_id = users.id)"
    )
