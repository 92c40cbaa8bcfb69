"""PostgreSQL tells the processes of changes, and of keys and people that end, so that they need not ask each second."""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

TOLD = {
    "changes": "INSERT",
    "api_keys": "UPDATE OF revoked_at",
    "users": "UPDATE OF disabled_at, removed_at",
    "index_health": "INSERT OR UPDATE",
}


def upgrade() -> None:
    """Create the triggers. They also report writes of an earlier version of the program."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(
        "CREATE FUNCTION drive_agent_news() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_notify('drive_agent_news', ''); RETURN NULL; END $$"
    )
    for table, written in TOLD.items():
        op.execute(
            f"CREATE TRIGGER drive_agent_news AFTER {written} ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION drive_agent_news()"
        )


def downgrade() -> None:
    """Drop them: the processes ask each second."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in TOLD:
        op.execute(f"DROP TRIGGER drive_agent_news ON {table}")
    op.execute("DROP FUNCTION drive_agent_news()")
