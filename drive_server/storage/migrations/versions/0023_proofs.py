"""A browser's session knows how it was opened, with which passkey, and when its person last proved who they are."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; sessions of before have no fresh proof, and count as opened by what ends."""
    op.add_column("api_keys", sa.Column("proof", sa.String(16), nullable=False, server_default=""))
    op.add_column("api_keys", sa.Column("proof_id", sa.String(32), nullable=True))
    op.add_column("api_keys", sa.Column("proved_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Drop them."""
    for name in ("proved_at", "proof_id", "proof"):
        op.drop_column("api_keys", name)
