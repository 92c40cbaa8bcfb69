"""Several processes share uploads, wrong attempts, addresses that log in, and downloads by links that have begun."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "upload_parts",
        sa.Column("upload_id", sa.String(32), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.String(255), nullable=False),
        sa.ForeignKeyConstraint(["upload_id"], ["uploads.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("upload_id", "start"),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("is_checked", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("ends_at", sa.Double(), nullable=False),
    )
    op.create_index("ix_attempts_key", "attempts", ["key", "ends_at"])
    op.create_index("ix_attempts_ends_at", "attempts", ["ends_at"])
    op.create_table(
        "login_links",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("caller", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
    )
    op.create_index("ix_login_links_user_id", "login_links", ["user_id"])
    op.create_table(
        "link_fetches",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("visitor", sa.String(64), nullable=False),
        sa.Column("begun_at", sa.Double(), nullable=False),
        sa.Column("left", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_link_fetches_visitor", "link_fetches", ["visitor"])
    op.create_index("ix_link_fetches_begun_at", "link_fetches", ["begun_at"])


def downgrade() -> None:
    """Drop them."""
    for table in ("link_fetches", "login_links", "attempts", "upload_parts"):
        op.drop_table(table)
