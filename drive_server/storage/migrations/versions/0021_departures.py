"""Files that a WebDAV client just took away from their names: programs that save bring them back."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "dav_departures",
        sa.Column("folder_id", sa.String(32), sa.ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("node_id", sa.String(32), sa.ForeignKey("nodes.id", ondelete="CASCADE"), nullable=False),
        sa.Column("user_id", sa.String(32), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("locks", sa.JSON(), nullable=False),
    )
    op.create_index("ix_dav_departures_node_id", "dav_departures", ["node_id"])
    op.create_index("ix_dav_departures_left_at", "dav_departures", ["left_at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("dav_departures")
