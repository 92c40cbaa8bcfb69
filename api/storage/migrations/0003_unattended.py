"""Unattended runs, and the webhooks that tell of them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the mode of runs, and the table of webhooks."""
    op.add_column("runs", sa.Column("mode", sa.String(length=16), nullable=False, server_default="attended"))
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=64), primary_key=True),
        sa.Column("thread_id", sa.String(length=36), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_delivered", sa.Boolean(), nullable=True),
    )
    op.create_index("ix_webhooks_due", "webhooks", ["ended_at", "due_at"])
    op.create_index("ix_webhooks_thread", "webhooks", ["thread_id"])
