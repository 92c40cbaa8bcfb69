"""The journal stores what a change was as a code with parameters, so that it can be said in every language."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; earlier changes keep their English sentence alone."""
    op.add_column("changes", sa.Column("message", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("changes", "message")
