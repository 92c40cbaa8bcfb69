"""A message can be edited: earlier versions of it keep their answers. Threads are found by the words in them."""

import re
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
COLUMNS = {"replaces": 36, "version_of": 36, "base_checkpoint": 64, "head_checkpoint": 64}
NUMBERED = """
UPDATE runs SET number = (
    SELECT count(*) FROM runs AS earlier WHERE earlier.thread_id = runs.thread_id
    AND (earlier.created_at < runs.created_at OR (earlier.created_at = runs.created_at AND earlier.id <= runs.id))
)
"""


def upgrade() -> None:
    """Add the columns and the table; the service completes the words of earlier runs when it starts."""
    for name, length in COLUMNS.items():
        op.add_column("runs", sa.Column(name, sa.String(length)))
    op.add_column("runs", sa.Column("number", sa.Integer, nullable=False, server_default="0"))
    op.execute(NUMBERED)
    op.create_index("ix_runs_user", "runs", ["user_id", "created_at"])
    op.create_index("ix_runs_version_of", "runs", ["version_of"])
    words = op.create_table(
        "thread_words",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("thread_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("others", sa.Text, nullable=False),
        sa.Column("is_whole", sa.Boolean, nullable=False),
    )
    op.create_index("ix_thread_words_user", "thread_words", ["user_id", "thread_id"])
    titles = sa.text("SELECT id, id AS thread_id, user_id, title AS text FROM threads")
    messages = sa.text("SELECT id, thread_id, user_id, message AS text FROM runs")
    for query, is_whole in ((titles, True), (messages, False)):
        rows = [
            {
                "id": row.id,
                "thread_id": row.thread_id,
                "user_id": row.user_id,
                "words": _words(row.text),
                "others": "",
                "is_whole": is_whole,
            }
            for row in op.get_bind().execute(query)
        ]
        op.bulk_insert(words, rows)


def downgrade() -> None:
    """Drop them."""
    op.drop_table("thread_words")
    op.drop_index("ix_runs_version_of", "runs")
    op.drop_index("ix_runs_user", "runs")
    for name in ("number", *COLUMNS):
        op.drop_column("runs", name)


def _words(text: str) -> str:
    """Return what the service's `words_of` returned when this was written, but for traditional characters."""
    found = re.findall(rf"[{CJK}]|[^\W_{CJK}]+", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(found)} "
