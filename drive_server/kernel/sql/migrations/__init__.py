"""The environment in which Alembic runs every schema's migrations."""
