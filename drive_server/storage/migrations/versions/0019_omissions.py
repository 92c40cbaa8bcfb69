"""The index says what readers left out of each file."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

TABLES = ("index_entries", "readings")


def upgrade() -> None:
    """Add the counts of omissions; texts are read anew with this version of the readers, so all begin empty."""
    for table in TABLES:
        op.add_column(table, sa.Column("omissions", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("index_entries", sa.Column("is_partial", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("index_entries", "is_partial")
    for table in TABLES:
        op.drop_column(table, "omissions")
