"""Find the approvals whose time is up next without reading those that were answered."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

WAITING = sa.text("status = 'waiting'")


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_approvals_waiting", "approvals", ["expires_at"], sqlite_where=WAITING, postgresql_where=WAITING)


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_approvals_waiting", "approvals")
