"""Programs that sign in by OAuth: their registrations, and the access that people granted them."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "programs",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("registration", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
    )
    op.create_table(
        "program_grants",
        sa.Column("key_id", sa.String(32), primary_key=True),
        sa.Column("client_id", sa.String(1000), nullable=False),
        sa.Column("resource", sa.String(1000), nullable=False),
        sa.Column("redirect_uri", sa.String(2000), nullable=False),
        sa.Column("is_redirect_explicit", sa.Boolean(), nullable=False),
        sa.Column("challenge", sa.String(128), nullable=False),
        sa.Column("code_digest", sa.String(64), nullable=False, unique=True),
        sa.Column("code_expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("code_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("refresh_digest", sa.String(64), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Drop them: programs register and sign in anew, and their keys end by themselves."""
    op.drop_table("program_grants")
    op.drop_table("programs")
