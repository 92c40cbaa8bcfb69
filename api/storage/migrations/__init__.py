"""The history of the service's own tables. `upgrade` runs it from code; no alembic.ini is needed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import URL, create_engine
from sqlalchemy.pool import NullPool

# Not Alembic's default: at scale the drive's tables are in the same database, with a history of their own.
VERSION_TABLE = "api_alembic_version"


def upgrade(url: URL, configure: Callable[[Any], None] | None = None) -> None:
    """Bring the database at the URL to the newest schema, in one transaction. Blocks; run it in a thread.

    `configure` prepares the engine before its first connection. Two processes that start at once wait for each other.
    """
    engine = create_engine(_synchronous(url), poolclass=NullPool)
    if configure:
        configure(engine)
    try:
        with engine.execution_options(writes=True).begin() as connection:
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()


def newest_version() -> str | None:
    """Return the newest migration in this package."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _synchronous(url: URL) -> URL:
    return url.set(drivername="sqlite") if url.get_backend_name() == "sqlite" else url
