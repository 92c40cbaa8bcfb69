"""The journal names the key of an approval; items say who gave them their names."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

NAMED_BY_LAST_CHANGE = """
UPDATE nodes SET named_by = COALESCE(
  (SELECT user_id FROM changes WHERE changes.item_id = nodes.id AND action IN ('create_folder', 'create_file', 'rename')
   ORDER BY changes.id DESC LIMIT 1),
  owner_id)
"""


def upgrade() -> None:
    """Add the columns. Names count as given by who last created or renamed the item, else by its owner."""
    op.add_column("changes", sa.Column("approved_key", sa.String(length=255), nullable=True))
    op.add_column("nodes", sa.Column("named_by", sa.String(length=32), nullable=True))
    op.execute(NAMED_BY_LAST_CHANGE)


def downgrade() -> None:
    """Drop them."""
    op.drop_column("nodes", "named_by")
    op.drop_column("changes", "approved_key")
