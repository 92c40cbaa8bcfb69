"""People: what they say of themselves, whether they may sign in, and from which browsers they did."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TEXTS = {"name": 100, "time_zone": 64, "language": 2}
TIMES = ("disabled_at", "removed_at")


def upgrade() -> None:
    """Add the columns."""
    for name, length in TEXTS.items():
        op.add_column("users", sa.Column(name, sa.String(length), nullable=False, server_default=""))
    for name in TIMES:
        op.add_column("users", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    op.add_column("api_keys", sa.Column("device", sa.String(64), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("api_keys", "device")
    for name in (*TIMES, *TEXTS):
        op.drop_column("users", name)
