"""The index says what readers left out of each file, and keeps what OCR read."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

TABLES = ("index_entries", "readings")
JSON_COLUMNS = ("omissions", "properties")
FLAGS = ("is_partial", "awaits_ocr")


def upgrade() -> None:
    """Add the columns and the table; texts are read anew with this version of the readers, so all begin empty."""
    for table in TABLES:
        for name in JSON_COLUMNS:
            op.add_column(table, sa.Column(name, sa.JSON(), nullable=False, server_default="{}"))
    for name in FLAGS:
        op.add_column("index_entries", sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "recognized_pages",
        sa.Column("blob", sa.String(64), primary_key=True),
        sa.Column("page", sa.Integer(), primary_key=True),
        sa.Column("parts", sa.JSON()),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("recognized_pages")
    for name in FLAGS:
        op.drop_column("index_entries", name)
    for table in TABLES:
        for name in JSON_COLUMNS:
            op.drop_column(table, name)
