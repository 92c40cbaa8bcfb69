"""A run has the instructions of its turn, and turns of OpenAI's clients are found by the messages that they send."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and the table; earlier runs had no instructions of their own."""
    op.add_column("runs", sa.Column("instructions", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "openai_turns",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("key_id", sa.String(32), nullable=False),
        sa.Column("thread_id", sa.String(36), nullable=False),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("after", sa.Integer(), nullable=False),
        sa.Column("preface", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_openai_turns_digest", "openai_turns", ["digest", "user_id"])
    op.create_index("ix_openai_turns_thread", "openai_turns", ["thread_id"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("openai_turns")
    op.drop_column("runs", "instructions")
