"""Runs that were ended while a call of theirs was under way: what it would still do is refused."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "revoked_runs",
        sa.Column("user_id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(64), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("revoked_runs")
