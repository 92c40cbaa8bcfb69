"""Secrets at rest: values of headers and environments, encrypted with a key that is not in the database."""

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from sqlalchemy import select

from api.errors import SecretsKeyError
from api.storage.tables import ServerRow
from drive_server.kernel.files.token_file import read_token, write_token
from drive_server.kernel.sql.database import Database

logger = logging.getLogger(__name__)

KEY_FILE: Final = "secrets.key"
"""The file in the data directory that has the key, if the settings name none."""


class Secrets:
    """Encrypts with the first of some keys, and decrypts with any of them. Raises `SecretsKeyError` for a bad one."""

    def __init__(self, keys: Sequence[str]) -> None:
        try:
            self._fernet = MultiFernet([Fernet(key) for key in keys])
        except ValueError as error:
            # Without the cause, which may quote the key.
            del error
            raise SecretsKeyError from None

    @classmethod
    def of(cls, root: Path, setting: str) -> "Secrets":
        """Return those with the keys of the setting; without one, with the key in the data directory."""
        return cls([key for part in setting.split(",") if (key := part.strip())] or [_read_or_make(root / KEY_FILE)])

    def seal(self, value: str) -> str:
        """Return the value encrypted."""
        return self._fernet.encrypt(value.encode()).decode()

    def open(self, sealed: Mapping[str, str]) -> dict[str, str]:
        """Return the values by name, without those that are not set or can't be decrypted with these keys."""
        opened = {name: self._opened(token) for name, token in sealed.items()}
        return {name: value for name, value in opened.items() if value is not None}

    def _opened(self, token: str) -> str | None:
        if not token:
            return None
        try:
            return self._fernet.decrypt(token.encode()).decode()
        except InvalidToken:
            logger.warning("a secret of an MCP server was encrypted with another key; it counts as not set")
            return None


async def open_secrets(database: Database, root: Path, setting: str, *, keep: bool) -> Secrets:
    """Return the secrets of an installation.

    Raises `SecretsKeyError` for a bad key, and if its stored secrets are of another one, or of a file that is gone:
    then no new file is made. With `keep` the service starts without them.
    """
    sealed = await _sealed_in(database)
    is_gone = not setting.strip() and not read_token(root / KEY_FILE)
    if sealed and is_gone and not keep:
        raise SecretsKeyError("secrets_key_lost", count=str(len(sealed)))
    secrets = Secrets.of(root, setting)
    known = secrets.open({str(number): token for number, token in enumerate(sealed)})
    if sealed and not known:
        if not keep:
            raise SecretsKeyError("secrets_key_lost", count=str(len(sealed)))
        logger.error(
            "the key of %d stored secrets is gone; they count as not set until they are given anew", len(sealed)
        )
    return secrets


async def _sealed_in(database: Database) -> list[str]:
    async with database.read() as session:
        rows = await session.execute(select(ServerRow.headers, ServerRow.env, ServerRow.credentials))
    values = [value for headers, env, credentials in rows for value in (*headers.values(), *env.values(), credentials)]
    return [value for value in values if value]


def _read_or_make(path: Path) -> str:
    """Return the key in the file; of several services that make one at once, all get the same."""
    if key := read_token(path):
        return key
    draft = path.with_name(f".{path.name}.{token_hex(8)}")
    write_token(draft, Fernet.generate_key().decode())
    try:
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    return read_token(path) or ""
