"""The index knows files by their contents: what it has of each, and what reading a content gave."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add both. Of what is indexed nobody knows the content: every file is read once more."""
    op.add_column("index_entries", sa.Column("content", sa.String(length=160), nullable=False, server_default=""))
    op.add_column("index_entries", sa.Column("index_table", sa.String(length=128), nullable=False, server_default=""))
    op.create_index("ix_index_entries_content", "index_entries", ["content"])
    op.create_table(
        "readings",
        sa.Column("content", sa.String(length=160), primary_key=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
    )


def downgrade() -> None:
    """Drop both."""
    op.drop_table("readings")
    op.drop_index("ix_index_entries_content", "index_entries")
    op.drop_column("index_entries", "index_table")
    op.drop_column("index_entries", "content")
