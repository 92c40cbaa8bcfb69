"""Runs know the time zone of their person, so that one that is taken up again means the same days."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("time_zone", sa.String(64), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("runs", "time_zone")
