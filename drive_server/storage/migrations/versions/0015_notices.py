"""Notices of what was shared with a person, and mails to people."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("node_id", sa.String(32), nullable=False),
        sa.Column("by_user", sa.String(32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.UniqueConstraint("email", "node_id"),
        sa.ForeignKeyConstraint(["by_user"], ["users.id"]),
    )
    op.create_index("ix_notices_by_user", "notices", ["by_user"])
    op.create_table(
        "mails",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("once", sa.String(128), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_sent", sa.Boolean(), nullable=False),
        sa.UniqueConstraint("once"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
    )
    op.create_index("ix_mails_due", "mails", ["ended_at", "due_at"])
    op.create_index("ix_mails_user_id", "mails", ["user_id"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("mails")
    op.drop_table("notices")
