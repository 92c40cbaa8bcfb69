"""People's own MCP servers, and assistants that choose among them; a thread remembers its assistant."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; earlier threads are the built-in assistant's."""
    op.create_table(
        "mcp_servers",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("base_url", sa.Text, nullable=False),
        sa.Column("headers", sa.JSON, nullable=False),
        sa.Column("timeout", sa.Float, nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("args", sa.JSON, nullable=False),
        sa.Column("env", sa.JSON, nullable=False),
        sa.Column("disabled_tools", sa.JSON, nullable=False),
        sa.Column("auto_approve_tools", sa.JSON, nullable=False),
        sa.Column("allows", sa.JSON, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("uq_mcp_servers_name", "mcp_servers", ["user_id", "name"], unique=True)
    op.create_table(
        "mcp_server_tools",
        sa.Column("server_id", sa.String(36), sa.ForeignKey("mcp_servers.id"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("definition", sa.JSON, nullable=False),
    )
    op.create_table(
        "assistants",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("model", sa.String(255), nullable=False),
        sa.Column("instructions", sa.Text, nullable=False),
        sa.Column("drive_tools", sa.JSON),
        sa.Column("is_default", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("uq_assistants_name", "assistants", ["owner", "name"], unique=True)
    op.create_table(
        "assistant_mcp_servers",
        sa.Column("assistant_id", sa.String(64), primary_key=True),
        sa.Column("mcp_server_id", sa.String(36), sa.ForeignKey("mcp_servers.id"), primary_key=True),
    )
    op.create_index("ix_assistant_mcp_servers_server", "assistant_mcp_servers", ["mcp_server_id"])
    op.add_column("threads", sa.Column("assistant_id", sa.String(64), nullable=False, server_default="drive_agent"))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("threads", "assistant_id")
    for table in ("assistant_mcp_servers", "assistants", "mcp_server_tools", "mcp_servers"):
        op.drop_table(table)
