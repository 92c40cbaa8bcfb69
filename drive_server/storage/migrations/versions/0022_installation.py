"""The identity of an installation, the marks of its parts, and contents that files of the drive gave up."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "installation",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("keeps_before", sa.DateTime(timezone=True), nullable=True),
    )
    op.create_table(
        "installation_marks",
        sa.Column("part", sa.String(32), primary_key=True),
        sa.Column("written", sa.Integer(), nullable=False),
        sa.Column("intended", sa.Integer(), nullable=False),
    )
    op.create_table("released_contents", sa.Column("blob", sa.String(64), primary_key=True))


def downgrade() -> None:
    """Drop them."""
    for name in ("released_contents", "installation_marks", "installation"):
        op.drop_table(name)
