"""Sessions know the key that opened them, so that they end when it is revoked."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Of open sessions nobody knows which key opened them: they end, and people log in again."""
    op.add_column("api_keys", sa.Column("opened_by", sa.String(length=32), nullable=True))
    op.execute("DELETE FROM api_keys WHERE method = 'session'")


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("api_keys", "opened_by")
