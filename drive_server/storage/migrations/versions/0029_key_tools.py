"""The tools that an MCP host with a key is shown."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; the keys that there are say nothing of it."""
    op.add_column("api_keys", sa.Column("tools", sa.String(8), nullable=True))


def downgrade() -> None:
    """Drop it: the settings decide."""
    op.drop_column("api_keys", "tools")
