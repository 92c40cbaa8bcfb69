"""Find the arguments of a call that would carry content of the drive to a server outside of it. Pure.

The person's own words may leave: they wrote them for this. Of everything else a word that the model has seen in the
drive, also spaced out, reversed, in Base64, in hexadecimal or percent-encoded, more text than a model needs to make up
itself, and letters that are no words count as content: a doubt asks the person. A short text in words of the model's
own, or in a code that it invents, can't be found.
"""

import re
import unicodedata
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast
from urllib.parse import unquote

MAX_OWN: Final = 200
"""Characters of all arguments together that a model may have made up itself; more may retell a text."""
MAX_WORD: Final = 24
"""Longer runs without a blank may be a text in another encoding."""
MAX_NAMED: Final = 10

_WORD: Final = re.compile(r"[^\W_]+")
_SIGNS: Final = re.compile(r"[\W_]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\U00020000-\U0003ffff]+")
_RUN: Final = re.compile(r"\S+")
_CODE: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}")
_SHORTEST: Final = 4
_SHORTEST_NUMBER: Final = 2
_HIDDEN: Final = range(6, 31)
"""Lengths of words that are looked for inside of others and in encodings; shorter ones stand there by chance."""
_DECODERS: Final[Sequence[Callable[[str], bytes]]] = (
    bytes.fromhex,
    lambda text: b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)),
)


def leaving(args: Mapping[str, Any], seen: Iterable[str], said: Iterable[str], before: int = 0) -> list[str]:
    """Return the names of the arguments with content of the drive, such as `text` or `items.0.title`.

    `seen` is the drive's content that the model has seen, `said` the person's words in the conversation. `before` is
    the `made_up` of calls that leave together with this one.
    """
    shown, own = "\n".join(seen), _Own("\n".join(said))
    if not shown.strip():
        return []
    words = {word for word in _words(shown) if word not in own.words}
    texts = own.others(args)
    found = [name for name, value in texts if _carries(value, words, own)]
    is_much = before + sum(len(value) for _, value in texts) > MAX_OWN
    if is_much or (not found and _hides("".join(value for _, value in texts), words)):
        found = [name for name, _ in texts]
    return [*dict.fromkeys(found)][:MAX_NAMED]


def made_up(args: Mapping[str, Any], said: Iterable[str]) -> int:
    """Return how many characters of the arguments the person did not write."""
    return sum(len(value) for _, value in _Own("\n".join(said)).others(args))


class _Own:
    """The person's own text, and its words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = set(_words(text))
        self._plain = _plain(text)

    def has(self, value: str) -> bool:
        """Say whether the person wrote this: whole words of it, as any letters are in a text."""
        plain = _plain(value)
        if plain and _HAN.fullmatch(plain):
            return len(plain) > 1 and plain in self._plain
        return re.search(rf"(?<![^\W_]){re.escape(plain)}(?![^\W_])", self._plain) is not None

    def others(self, args: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the texts in the arguments that are not the person's, with where they are."""
        return [(name, value) for name, value in _texts(args, "") if not self.has(value)]


def _carries(value: str, seen: set[str], own: _Own) -> bool:
    if any(len(run) > MAX_WORD and not own.has(run) for run in _runs(value)):
        return True
    return not seen.isdisjoint(_words(value)) or _hides(value, seen)


def _hides(value: str, seen: set[str]) -> bool:
    """Say whether a long word that was seen is in a text without its blanks and signs, in any of its forms."""
    return any(
        text[at : at + length] in seen
        for text in map(_squeezed, _forms(value[: 2 * MAX_OWN]))
        for at in range(len(text))
        for length in _HIDDEN
    )


def _forms(value: str) -> Iterator[str]:
    yield value
    yield value[::-1]
    yield unquote(value)
    for code in {*_CODE.findall(value), *_CODE.findall("".join(value.split()))}:
        for decode in _DECODERS:
            with suppress(ValueError):
                yield decode(code).decode(errors="ignore")


def _squeezed(text: str) -> str:
    return _SIGNS.sub("", _folded(text))


def _runs(value: str) -> Iterator[str]:
    return (run for run in _RUN.findall(value) if not _HAN.search(run))


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield each text and number in the arguments, and each name of a field, with where it is."""
    if isinstance(value, Mapping):
        for key, field in cast("Mapping[str, Any]", value).items():
            inner = f"{name}.{key}" if name else str(key)
            if name:
                yield inner, str(key)
            yield from _texts(field, inner)
    elif isinstance(value, list):
        for position, item in enumerate(cast("Sequence[Any]", value)):
            yield from _texts(item, f"{name}.{position}")
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield name, str(value)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, and of Chinese each pair of characters; short words say nothing."""
    for found in _WORD.findall(_folded(text)):
        for run in _HAN.findall(found):
            yield from (run[at : at + 2] for at in range(len(run) - 1))
        word = _HAN.sub("", found)
        if len(word) >= (_SHORTEST_NUMBER if any(map(str.isdigit, word)) else _SHORTEST):
            yield word


def _plain(text: str) -> str:
    return " ".join(_folded(text).split())


def _folded(text: str) -> str:
    """Return a text by which two spellings are one: without case, width and accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return plain if plain.isascii() else "".join(sign for sign in plain if unicodedata.category(sign) != "Mn")
