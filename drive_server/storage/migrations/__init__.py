"""The migrations of the drive's tables, which Alembic runs in the environment of `drive_server/kernel/sql/`."""
