"""What makes two files the same to the index, and two passages: by these it knows what it has already."""

from hashlib import sha256

from drive_server.knowledge.formats import format_of

READING = 2
"""Raised when readers or chunker come to other passages: at its next start the drive then reads every file again."""

DIGEST_CHARACTERS = 32


def content_key(blob: str, name: str, media_type: str) -> str:
    """Return the name of a content: its bytes, the format they are read as, and what reads them.

    Of the file's name only the format counts, so that a file that is renamed keeps its passages.
    """
    return f"{blob}/{format_of(name, media_type).name}/{READING}"


def digest_of(text: str) -> str:
    """Return the digest of an embedded text: passages of the same digest have the same vector."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]
