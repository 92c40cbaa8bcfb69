"""Threads and runs of LangGraph's clients: a run of theirs is a stretch of one of ours."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; threads and runs that were begun elsewhere need no row."""
    op.create_table(
        "client_threads",
        sa.Column("thread_id", sa.String(36), sa.ForeignKey("threads.id"), primary_key=True),
        sa.Column("about", sa.JSON, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("drafts", sa.JSON, nullable=False),
        sa.Column("is_temporary", sa.Boolean, nullable=False),
    )
    op.create_table(
        "client_runs",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("thread_id", sa.String(36), sa.ForeignKey("threads.id"), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("assistant_id", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(36), nullable=True),
        sa.Column("first_seq", sa.Integer, nullable=False),
        sa.Column("last_seq", sa.Integer, nullable=True),
        sa.Column("wanted", sa.JSON, nullable=False),
        sa.Column("about", sa.JSON, nullable=False),
        sa.Column("strategy", sa.String(16), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_client_runs_thread", "client_runs", ["thread_id", "number"])
    op.create_index("ix_client_runs_status", "client_runs", ["status"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("client_runs")
    op.drop_table("client_threads")
