"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "users",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("root_id", sa.String(length=32), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("email"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("method", sa.String(length=16), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_hash"),
    )
    op.create_index(op.f("ix_api_keys_user_id"), "api_keys", ["user_id"], unique=False)
    op.create_table(
        "changes",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("method", sa.String(length=16), nullable=False),
        sa.Column("key_name", sa.String(length=255), nullable=True),
        sa.Column("tool", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("idempotency_key", sa.String(length=255), nullable=True),
        sa.Column("arguments_digest", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("summary", sa.String(), nullable=False),
        sa.Column("item_id", sa.String(length=32), nullable=True),
        sa.Column("entries", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("approved_by", sa.String(length=320), nullable=True),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("undone_by", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "idempotency_key"),
    )
    op.create_index("ix_changes_item", "changes", ["item_id"], unique=False)
    op.create_index("ix_changes_run", "changes", ["run_id"], unique=False)
    op.create_table(
        "nodes",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("parent_id", sa.String(length=32), nullable=True),
        sa.Column("owner_id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=6), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("trash_id", sa.String(length=32), nullable=True),
        sa.Column("trashed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"]),
        sa.ForeignKeyConstraint(["parent_id"], ["nodes.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_nodes_owner", "nodes", ["owner_id"], unique=False)
    op.create_index(
        "ix_nodes_trash",
        "nodes",
        ["trash_id"],
        unique=False,
        sqlite_where=sa.text("trash_id IS NOT NULL"),
        postgresql_where=sa.text("trash_id IS NOT NULL"),
    )
    op.create_index(
        "uq_nodes_live_name",
        "nodes",
        ["parent_id", "name"],
        unique=True,
        sqlite_where=sa.text("trash_id IS NULL"),
        postgresql_where=sa.text("trash_id IS NULL"),
    )
    op.create_table(
        "change_items",
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["change_id"], ["changes.id"]),
        sa.PrimaryKeyConstraint("change_id", "item_id"),
    )
    op.create_index(op.f("ix_change_items_item_id"), "change_items", ["item_id"], unique=False)
    op.create_table(
        "index_entries",
        sa.Column("file_id", sa.String(length=32), nullable=False),
        sa.Column("owner_id", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["file_id"], ["nodes.id"]),
        sa.PrimaryKeyConstraint("file_id"),
    )
    op.create_index("ix_index_entries_state", "index_entries", ["state"], unique=False)
    op.create_table(
        "shares",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("node_id", sa.String(length=32), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"]),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("node_id", "email"),
    )
    op.create_index("ix_shares_email", "shares", ["email"], unique=False)
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("node_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("blob", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("author_id", sa.String(length=32), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"]),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("node_id", "number"),
    )
    op.create_index(op.f("ix_versions_blob"), "versions", ["blob"], unique=False)


def downgrade() -> None:
    """Drop every table."""
    op.drop_index(op.f("ix_versions_blob"), table_name="versions")
    op.drop_table("versions")
    op.drop_index("ix_shares_email", table_name="shares")
    op.drop_table("shares")
    op.drop_index("ix_index_entries_state", table_name="index_entries")
    op.drop_table("index_entries")
    op.drop_index(op.f("ix_change_items_item_id"), table_name="change_items")
    op.drop_table("change_items")
    op.drop_index(
        "uq_nodes_live_name",
        table_name="nodes",
        sqlite_where=sa.text("trash_id IS NULL"),
        postgresql_where=sa.text("trash_id IS NULL"),
    )
    op.drop_index("ix_nodes_trash", table_name="nodes")
    op.drop_index("ix_nodes_owner", table_name="nodes")
    op.drop_table("nodes")
    op.drop_index("ix_changes_run", table_name="changes")
    op.drop_index("ix_changes_item", table_name="changes")
    op.drop_table("changes")
    op.drop_index(op.f("ix_api_keys_user_id"), table_name="api_keys")
    op.drop_table("api_keys")
    op.drop_table("users")
