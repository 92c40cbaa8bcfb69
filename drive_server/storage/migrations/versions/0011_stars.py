"""Stars: a person's marks on items."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "stars",
        sa.Column("user_id", sa.String(32), primary_key=True),
        sa.Column("node_id", sa.String(32), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
    )
    op.create_index("ix_stars_recent", "stars", ["user_id", "at"])
    op.create_index("ix_stars_node", "stars", ["node_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("stars")
