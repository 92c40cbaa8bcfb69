"""Imports of threads that are not whole yet count, and end after a while."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "thread_imports",
        sa.Column("thread_id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_thread_imports_user", "thread_imports", ["user_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("thread_imports")
