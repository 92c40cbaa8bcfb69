"""Store the results of reading many files for a while."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the results, and what each file said."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "bulk_results",
        sa.Column("id", sa.String(length=32), primary_key=True),
        sa.Column("user_id", sa.String(length=32), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.Column("created_at", time, nullable=False),
        sa.Column("expires_at", time, nullable=False),
    )
    op.create_index("ix_bulk_results_user", "bulk_results", ["user_id", "created_at"])
    op.create_index("ix_bulk_results_expiry", "bulk_results", ["expires_at"])
    op.create_table(
        "bulk_findings",
        sa.Column(
            "result_id", sa.String(length=32), sa.ForeignKey("bulk_results.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("finding", sa.JSON(), nullable=False),
    )


def downgrade() -> None:
    """Drop both."""
    op.drop_table("bulk_findings")
    op.drop_table("bulk_results")
