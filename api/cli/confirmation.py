"""A question that is answered with yes or no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api.cli.failure import CommandError
from api.cli.texts import words

if TYPE_CHECKING:
    from api.cli.terminal import Terminal

YES: Final = words("yes")
NO: Final = words("no")


def is_yes(answer: str | None) -> bool:
    """Return whether an answer says yes; False for no answer."""
    return (answer or "").strip().lower() in YES


def confirmed(terminal: Terminal, question: str) -> bool:
    """Return whether the person says yes. Raises `CommandError` if nobody answers."""
    answer = terminal.ask(question)
    if answer is None:
        raise CommandError.of("no_answer")
    return is_yes(answer)
