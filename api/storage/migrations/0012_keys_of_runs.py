"""A run knows the key or the browser session that began it, and ends when that is revoked."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; earlier runs end with their person alone."""
    op.add_column("runs", sa.Column("key_id", sa.String(length=32), nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("runs", "key_id")
