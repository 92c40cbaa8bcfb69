"""An index of names by pairs of characters, so that a search need not look through all names.

`name_grams` has for each item the pairs of neighbouring characters of its name in hex, ASCII in lower case as `LIKE`
compares it, the last character with a blank; and `beyond` for a name beyond ASCII. Pairs, because most Chinese words
have two characters, for which FTS5's own trigrams find nothing. It stores no text. Triggers keep it in the transaction
that writes a name. `name_keys` gives items numbers that, unlike rowids, no VACUUM changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

MAX_NAME = 255

GRAMS = """
(SELECT group_concat(hex(substr(lower({name}) || ' ', position, 2)), ' ')
        || CASE WHEN {name} GLOB '*[^ -~]*' THEN ' beyond' ELSE '' END
 FROM name_positions WHERE position <= length({name}))
"""
ADD = """
INSERT INTO name_grams (rowid, grams) SELECT key, {grams} FROM name_keys WHERE node_id = new.id;
""".format(grams=GRAMS.format(name="new.name"))  # noqa: S608 - constants
REMOVE = """
INSERT INTO name_grams (name_grams, rowid, grams) SELECT 'delete', key, {grams} FROM name_keys WHERE node_id = old.id;
""".format(grams=GRAMS.format(name="old.name"))  # noqa: S608 - constants
FILL = """
INSERT INTO name_grams (rowid, grams) SELECT key, {grams} FROM name_keys JOIN nodes ON id = node_id
""".format(grams=GRAMS.format(name="name"))  # noqa: S608 - constants
KEY = "INSERT INTO name_keys (node_id) VALUES (new.id);"
NO_KEY = "DELETE FROM name_keys WHERE node_id = old.id;"
SQLITE = (
    "CREATE VIRTUAL TABLE name_grams USING fts5(grams, content='', detail='none', tokenize='ascii')",
    "INSERT INTO name_keys (node_id) SELECT id FROM nodes",
    FILL,
    f"CREATE TRIGGER name_added AFTER INSERT ON nodes BEGIN {KEY} {ADD} END",
    f"CREATE TRIGGER name_changed AFTER UPDATE OF name ON nodes WHEN old.name <> new.name BEGIN {REMOVE} {ADD} END",
    f"CREATE TRIGGER name_removed AFTER DELETE ON nodes BEGIN {REMOVE} {NO_KEY} END",
)


def upgrade() -> None:
    """Add the tables, and on SQLite the index and its triggers. Elsewhere searches look through the names."""
    positions = op.create_table("name_positions", sa.Column("position", sa.Integer(), primary_key=True))
    op.bulk_insert(positions, [{"position": position} for position in range(1, MAX_NAME + 1)])
    op.create_table(
        "name_keys",
        sa.Column("key", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("node_id", sa.String(length=32), nullable=False),
        sa.UniqueConstraint("node_id"),
    )
    for statement in SQLITE if op.get_bind().dialect.name == "sqlite" else ():
        op.execute(statement)


def downgrade() -> None:
    """Drop them."""
    if op.get_bind().dialect.name == "sqlite":
        for trigger in ("name_added", "name_changed", "name_removed"):
            op.execute(f"DROP TRIGGER {trigger}")
        op.execute("DROP TABLE name_grams")
    op.drop_table("name_keys")
    op.drop_table("name_positions")
