"""The schema's history. `upgrade` runs it from code; no alembic.ini is needed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import URL, create_engine
from sqlalchemy.pool import NullPool


def upgrade(url: URL, configure: Callable[[Any], None] | None = None) -> None:
    """Bring the database at the URL to the newest schema, in one transaction. Blocks; run it in a thread.

    `configure` prepares the engine before its first connection. Two processes that start at once wait for each other.
    """
    engine = create_engine(_synchronous(url), poolclass=NullPool)
    if configure:
        configure(engine)
    try:
        with engine.execution_options(writes=True).begin() as connection:
            command.upgrade(config_for(connection), "head")
    finally:
        engine.dispose()


def config_for(connection: Any) -> Config:
    """Return Alembic's configuration for this folder of migrations on an open connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _synchronous(url: URL) -> URL:
    return url.set(drivername="sqlite") if url.get_backend_name() == "sqlite" else url
