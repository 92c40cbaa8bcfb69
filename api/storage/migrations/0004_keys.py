"""Approvals and cancelled runs name the key that decided, beside the person."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; earlier decisions name no key."""
    op.add_column("approvals", sa.Column("decided_key", sa.String(length=255), nullable=True))
    op.add_column("runs", sa.Column("cancel_key", sa.String(length=255), nullable=True))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("runs", "cancel_key")
    op.drop_column("approvals", "decided_key")
