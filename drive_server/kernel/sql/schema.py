"""A set of tables and its migrations, which run from code: no alembic.ini is needed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    JSON,
    URL,
    Connection,
    DateTime,
    MetaData,
    Select,
    create_engine,
    event,
    func,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import NullPool
from sqlalchemy.types import TypeDecorator

from drive_server.kernel.errors import DriveError, StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.server import is_sqlite, server_url

if TYPE_CHECKING:
    from alembic.config import Config

ENVIRONMENT: Final = Path(__file__).parent / "migrations"
"""The folder of Alembic's `env.py`, which all schemas share."""
MIGRATION_SECONDS: Final = 600
"""The longest wait for another program's migration on SQLite."""
_one_at_a_time: Final = Lock()
"""Alembic has one `op` and one `context` in a process: two threads would migrate through each other's connections."""


class UtcDateTime(TypeDecorator[datetime]):
    """A time that stays aware and in UTC, also over SQLite, which stores no zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Store UTC. Raises `ValueError` for a naive time, which is a bug."""
        del dialect
        if value is not None and value.tzinfo is None:
            msg = "a naive time can't be stored"
            raise ValueError(msg)
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Return an aware UTC time: SQLite's have no zone, and PostgreSQL's that of its server."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


COLUMN_TYPES: Final[dict[Any, Any]] = {datetime: UtcDateTime, dict[str, Any]: JSON, list[Any]: JSON}
"""The columns that the annotations of a table's class stand for."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one package and their history.

    `folder` holds the migrations. `version_table` is the schema's own: two schemas may share a database. `conflict`
    returns the error for a broken constraint, None for a failure of the storage; without it, SQLAlchemy's
    `IntegrityError` passes. `sequence` gives the numbers that readers follow, on PostgreSQL.
    `server_state` is the query for `Database.state` there; without it, that is another one after every transaction.
    """

    metadata: MetaData
    folder: Path
    version_table: str
    conflict: Callable[[IntegrityError], DriveError | None] | None = None
    sequence: str = ""
    server_state: Select[Any, Any] | None = None

    def upgrade(self, url: URL, configure: Callable[[Any], None] | None = None) -> None:
        """Bring the database at the URL to the newest migration, in one transaction. Blocks; run it in a thread.

        Programs that do so at the same time follow one another: on a slow disk a migration takes longer than any write.
        Raises `StorageFailureError` for a database of a newer version of the program.
        """
        engine = create_engine(_synchronous(url), poolclass=NullPool)
        if configure:
            configure(engine)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _wait_long)
        try:
            with _one_at_a_time, engine.execution_options(writes=True).begin() as connection:
                if engine.dialect.name == "postgresql":
                    name = func.hashtextextended(self.version_table, 0)
                    connection.execute(select(func.pg_advisory_xact_lock(name)))
                if self._version(connection) != self.newest_version():
                    self._migrate(connection)
        finally:
            engine.dispose()

    def newest_version(self) -> str | None:
        """Return the newest migration of the folder, whose file's name begins with its number."""
        return max((path.name.partition("_")[0] for path in self.folder.glob("[0-9]*.py")), default=None)

    def knows(self, revision: str) -> bool:
        """Say whether a migration is one of the folder's: a database of a newer program has seen another one."""
        return any(path.name.partition("_")[0] == revision for path in self.folder.glob("[0-9]*.py"))

    def _version(self, connection: Connection) -> str | None:
        if not inspect(connection).has_table(self.version_table):
            return None
        return connection.execute(text(f"SELECT version_num FROM {self.version_table}")).scalar()  # noqa: S608 - ours

    def _migrate(self, connection: Connection) -> None:
        # Imported here: a database that is up to date, as nearly all are, needs none of it.
        from alembic import command
        from alembic.script.revision import ResolutionError
        from alembic.util import CommandError

        try:
            command.upgrade(self.config(connection), "head")
        except CommandError as error:
            if not isinstance(error.__cause__, ResolutionError):
                raise
            raise StorageFailureError(Message.of("newer_data")) from error

    def config(self, connection: Connection | None = None) -> "Config":
        """Return Alembic's configuration for this schema on an open connection."""
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", _escaped(ENVIRONMENT))
        config.set_main_option("version_locations", _escaped(self.folder))
        config.set_main_option("path_separator", "os")
        config.attributes.update(connection=connection, schema=self)
        return config


def _wait_long(connection: Any, record: Any) -> None:
    del record
    connection.execute(f"PRAGMA busy_timeout = {MIGRATION_SECONDS * 1000}").close()


def _escaped(folder: Path) -> str:
    return str(folder).replace("%", "%%")


def _synchronous(url: URL) -> URL:
    return url.set(drivername="sqlite") if is_sqlite(url) else server_url(url, url.drivername)
