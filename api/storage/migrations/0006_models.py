"""A thread may have a model of its own; a run has the one that it began with."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = ("threads", "runs")


def upgrade() -> None:
    """Add the columns; earlier threads and runs have the model of the settings."""
    for table in TABLES:
        op.add_column(table, sa.Column("model", sa.String(length=255), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop them."""
    for table in TABLES:
        op.drop_column(table, "model")
