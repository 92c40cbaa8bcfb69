"""Logs: no text in a record ends its line, moves a cursor or turns the direction."""

from drive_server.kernel.escaping.characters import UNSAFE, number_of


def log_text(text: str) -> str:
    """Return a text for one record of a log: nothing in it ends a line, moves a cursor or turns the direction."""
    return UNSAFE.sub(lambda match: number_of(match[0]), text)
