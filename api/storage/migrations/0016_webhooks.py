"""Webhooks of clients' runs have an address of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; earlier webhooks go to the operator's address."""
    op.add_column("webhooks", sa.Column("url", sa.Text(), nullable=False, server_default=""))
    op.add_column("webhooks", sa.Column("user_id", sa.String(32), nullable=False, server_default=""))
    op.add_column("webhooks", sa.Column("key_id", sa.String(32), nullable=False, server_default=""))


def downgrade() -> None:
    """Drop them."""
    for name in ("key_id", "user_id", "url"):
        op.drop_column("webhooks", name)
