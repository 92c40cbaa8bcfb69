"""The base of all tables, and their ids."""

from uuid import uuid4

from sqlalchemy.orm import DeclarativeBase

from drive_server.kernel.sql.schema import COLUMN_TYPES


def new_id() -> str:
    """Return a fresh random id."""
    return uuid4().hex


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map = COLUMN_TYPES
