"""The settings of a command: the environment, and the file of `--config` or of the data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic_settings import BaseSettings

from api.cli.failure import CommandError
from api.cli.texts import language
from drive_server.kernel.configuration import Configuration
from drive_server.kernel.errors import DriveError, InvalidInputError

if TYPE_CHECKING:
    from argparse import Namespace

S = TypeVar("S", bound=BaseSettings)


def settings_of(arguments: Namespace, kind: type[S]) -> S:
    """Return settings for a command. Raises `CommandError` for a file or a value that can't be used."""
    try:
        return Configuration(arguments.config).read(kind)
    except InvalidInputError as error:
        raise as_command_error(error) from error


def as_command_error(error: DriveError) -> CommandError:
    """Return the error of the drive in the terminal's language."""
    sentence, hint = error.texts(language())
    return CommandError(sentence, hint=hint)
