"""Locks and dead properties of WebDAV."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "dav_locks",
        sa.Column("token", sa.String(length=64), primary_key=True),
        sa.Column("node_id", sa.String(length=32), sa.ForeignKey("nodes.id", ondelete="CASCADE"), nullable=False),
        sa.Column("tree_owner_id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("is_deep", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_dav_locks_node_id", "dav_locks", ["node_id"])
    op.create_index("ix_dav_locks_user_id", "dav_locks", ["user_id"])
    op.create_index("ix_dav_locks_tree", "dav_locks", ["tree_owner_id", "expires_at"])
    op.create_table(
        "dav_properties",
        sa.Column("node_id", sa.String(length=32), sa.ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.String(length=512), primary_key=True),
        sa.Column("value", sa.String(), nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("dav_properties")
    op.drop_table("dav_locks")
