"""The configuration: the environment, then one file: the named one, or `drive-agent.env` in the data directory.

Never a file of the current folder: hosts start commands in any project that is open.
"""

from io import StringIO
from pathlib import Path
from typing import Final, TypeVar

from dotenv.parser import parse_stream
from pydantic import ValidationError
from pydantic_settings import BaseSettings

from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import DriveSettings, read_settings

S = TypeVar("S", bound=BaseSettings)
DATA_DIR: Final = "DRIVE_DATA_DIR"


class Configuration:
    """Reads settings from the environment and from the file `named`, without one from that of the data directory."""

    def __init__(self, named: Path | None = None) -> None:
        self._named = named.expanduser() if named else None

    def read(self, kind: type[S]) -> S:
        """Return the settings. Raises `InvalidInputError` for a file or a value that can't be used."""
        path = self._named or _read(DriveSettings).config_path
        if not self._is_usable(path):
            return _read(kind)
        return _read(kind, path)

    def _is_usable(self, path: Path) -> bool:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (FileNotFoundError, NotADirectoryError) as error:
            if self._named is None:
                return False
            raise _unreadable(path, error.strerror or "") from error
        except OSError as error:
            raise _unreadable(path, error.strerror or "") from error
        except UnicodeDecodeError as error:
            raise _unreadable(path, Message.of("no_utf8")) from error
        _check_lines(path, text, may_move=self._named is not None)
        return True


def _check_lines(path: Path, text: str, *, may_move: bool) -> None:
    for line in parse_stream(StringIO(text)):
        if line.error:
            raise InvalidInputError(
                Message.of("settings_line", line=line.original.line, path=str(path)),
            )
        if not may_move and (line.key or "").upper() == DATA_DIR:
            raise InvalidInputError(
                Message.of("settings_elsewhere", path=str(path), name=DATA_DIR),
            )


def _read(kind: type[S], *files: Path) -> S:
    try:
        return read_settings(kind, *files)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        prefix = str(kind.model_config.get("env_prefix", ""))
        shown = f"{prefix}{name}".upper() if name in kind.model_fields else name
        place = Message.of("environment_or", path=str(files[-1])) if files else Message.of("environment")
        sentence = first["msg"].removeprefix("Value error, ")
        raise InvalidInputError(Message.of("setting_refused", name=shown, reason=sentence, place=place)) from error


def _unreadable(path: Path, why: str | Message) -> InvalidInputError:
    return InvalidInputError(Message.of("settings_unreadable", path=str(path), reason=why))
