"""The journal says which call of a model a change was, and which approval or grant allowed it."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

COLUMNS = {"tool_call_id": 190, "approval_id": 64, "grant_id": 64}


def upgrade() -> None:
    """Add the columns; earlier changes have nothing in them."""
    for name, length in COLUMNS.items():
        op.add_column("changes", sa.Column(name, sa.String(length=length), nullable=True))


def downgrade() -> None:
    """Drop them."""
    for name in COLUMNS:
        op.drop_column("changes", name)
