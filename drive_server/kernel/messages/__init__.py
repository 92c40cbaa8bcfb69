"""Messages for people as codes with parameters; `texts/` has the text of each code in every language.

Codes with `effect.` describe a call beforehand, those with `change.` afterwards; `seen.` is a change by somebody else.
`error.` is for errors that have no sentence of their own, by their code. The next step after an error is at its code
with `.hint`. The journal stores codes: one that was in use stays.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from drive_server.kernel.texts import ORIGINAL, Texts
from drive_server.kernel.texts import Language as Language

TEXTS: Final = Texts.beside(__file__)
LANGUAGES: Final = TEXTS.languages
"""The languages in which the drive speaks to people."""
TERMINAL_VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Where a terminal names its language, the first one that is set (POSIX, 8.2)."""
_LANGUAGE: Final = re.compile("[a-z]*")
_FULL_STOPS = ".。"
LISTS = frozenset({"commas", "semicolons"})


@dataclass(frozen=True, slots=True)
class Message:
    """A code with its parameters, which are JSON; one that is a message itself is rendered in turn."""

    code: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, code: str, **params: Any) -> "Message":
        """Return the message with these parameters: texts, numbers or messages."""
        return cls(code, {name: _to_json(value) for name, value in params.items()})

    @classmethod
    def joined(cls, separator: Literal["commas", "semicolons"], parts: Iterable["str | Message"]) -> "Message":
        """Return the parts as one message. A part that is a text reads the same in every language."""
        return cls(separator, {"parts": [_to_json(part) for part in parts]})

    @property
    def en(self) -> str:
        """The English text."""
        return render(self, ORIGINAL)

    def to_json(self) -> dict[str, Any]:
        """Return the message as the journal stores it."""
        return {"code": self.code, "params": dict(self.params)}

    @property
    def hint(self) -> "Message | None":
        """The next step, if there is one, with the same parameters."""
        code = f"{self.code}.hint"
        return Message(code, self.params) if code in TEXTS else None


def render(message: Message, language: Language, escape: Callable[[str], str] | None = None) -> str:
    """Return the text of the message in the language; `escape` is applied to each text that is put into it."""
    if message.code in LISTS:
        parts = (_text(part, language, escape).rstrip(_FULL_STOPS) for part in message.params["parts"])
        return TEXTS.template(message.code, language).join(parts)
    params = {name: _text(value, language, escape) for name, value in message.params.items()}
    return TEXTS.say(message.code, language, **params)


def join_sentences(sentences: Iterable[str], language: Language) -> str:
    """Return sentences as one text, with the space that the language has between sentences."""
    return TEXTS.template("between_sentences", language).join(sentences)


def terminal_language() -> Language:
    """Return the language that the terminal asks for, or English if there are no texts in it."""
    named = next((os.environ[name] for name in TERMINAL_VARIABLES if os.environ.get(name)), "")
    found = _LANGUAGE.match(named.lower())
    return found[0] if found and found[0] in LANGUAGES else ORIGINAL


def translations(messages: Mapping[str, Message | None]) -> dict[str, Any]:
    """Return `{field: {code, params, zh}}` for fields that have the English text themselves."""
    others = [language for language in LANGUAGES if language != ORIGINAL]
    return {
        name: {**message.to_json(), **{language: render(message, language) for language in others}}
        for name, message in messages.items()
        if message
    }


def localized(**fields: "str | Message") -> dict[str, Any]:
    """Return the fields in English, with the `translations` of those that are messages in `messages`."""
    texts = {name: value.en if isinstance(value, Message) else value for name, value in fields.items()}
    found = {name: value for name, value in fields.items() if isinstance(value, Message)}
    return {**texts, "messages": translations(found)} if found else texts


def _to_json(value: Any) -> Any:
    return value.to_json() if isinstance(value, Message) else value


def _text(value: Any, language: Language, escape: Callable[[str], str] | None) -> Any:
    if isinstance(value, dict):
        return render(Message(value["code"], value["params"]), language, escape)
    return escape(value) if escape is not None and isinstance(value, str) else value
