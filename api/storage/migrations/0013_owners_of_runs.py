"""A run knows the process that has it, and processes that share a database see which of them are alive."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the table; runs that are not over are nobody's, so that the next process takes them up."""
    op.add_column("runs", sa.Column("owner", sa.String(length=36), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("stops", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "replicas",
        sa.Column("id", sa.String(length=36), primary_key=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("replicas")
    op.drop_column("runs", "stops")
    op.drop_column("runs", "owner")
