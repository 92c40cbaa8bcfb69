"""Work that one process of several does: its holder; and the state of the index that they share."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "process_locks",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("holder", sa.String(32), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "index_health",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("rebuilds", sa.JSON(), nullable=False),
        sa.Column("request", sa.String(16), nullable=False),
    )


def downgrade() -> None:
    """Drop them: a process that starts takes the work up, and looks at the index."""
    op.drop_table("index_health")
    op.drop_table("process_locks")
