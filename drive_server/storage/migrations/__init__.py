"""The environment in which Alembic runs every schema's migrations, and those of the drive's tables."""
