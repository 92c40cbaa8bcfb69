"""Alembic's entry: runs the migrations on the connection that `migrations.upgrade` opened."""

from alembic import context

from api.storage.migrations import VERSION_TABLE
from api.storage.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
