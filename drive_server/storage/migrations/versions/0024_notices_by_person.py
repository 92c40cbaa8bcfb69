"""Two people who leave what one shared with them, or share the same item with somebody, make a notice each."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

COLUMNS = "email, node_id, by_user, created_at, read_at"


def upgrade() -> None:
    """Have one notice for each person and item that it is about, and each person whom it is of."""
    _make_anew("email", "node_id", "by_user")


def downgrade() -> None:
    """Have one for each item again: the newest."""
    newest = "SELECT max(id) FROM notices GROUP BY email, node_id"
    op.execute(f"DELETE FROM notices WHERE id NOT IN ({newest})")  # noqa: S608 - no value in it
    _make_anew("email", "node_id")


def _make_anew(*unique: str) -> None:
    """Copy the table: its constraint has no name, and SQLite changes none. The ids begin anew, in the same order."""
    op.create_table(
        "notices_anew",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("node_id", sa.String(32), nullable=False),
        sa.Column("by_user", sa.String(32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.UniqueConstraint(*unique),
        sa.ForeignKeyConstraint(["by_user"], ["users.id"]),
    )
    op.execute(f"INSERT INTO notices_anew ({COLUMNS}) SELECT {COLUMNS} FROM notices ORDER BY id")  # noqa: S608 - ours
    op.drop_table("notices")
    op.rename_table("notices_anew", "notices")
    op.create_index("ix_notices_by_user", "notices", ["by_user"])
