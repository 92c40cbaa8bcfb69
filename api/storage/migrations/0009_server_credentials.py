"""People sign in to their MCP servers."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column for encrypted tokens; nobody is signed in."""
    op.add_column("mcp_servers", sa.Column("credentials", sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("mcp_servers", "credentials")
