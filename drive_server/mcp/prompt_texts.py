"""The prompts, their arguments, and their texts in every language."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from drive_server.kernel.messages import Language
from drive_server.kernel.texts import ORIGINAL, Texts

Kind = Literal["file", "folder", "person", "language"]

TEXTS: Final = Texts.beside(__file__)
LANGUAGES: Final[tuple[Language, ...]] = (ORIGINAL, *(name for name in TEXTS.languages if name != ORIGINAL))
MAX_LETTERS = 4000
CHINESE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a prompt: its name, the kind of value it takes, and the code of its description."""

    name: str
    kind: Kind
    code: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class DrivePrompt:
    """A prompt, whose texts stand under its name."""

    name: str
    arguments: tuple[Argument, ...]

    def title(self, language: Language) -> str:
        """Return its name for people."""
        return self._texts(language)["title"]

    def description(self, language: Language) -> str:
        """Return a sentence about its answer."""
        return self._texts(language)["description"]

    def filled(self, language: Language, **values: str) -> str:
        """Return its request with these values put in. Raises KeyError if one is missing."""
        return self._texts(language)["text"].format(**values)

    def _texts(self, language: Language) -> Any:
        return TEXTS.value(self.name, language)


def _prompt(name: str, required: dict[str, Kind], optional: dict[str, Kind]) -> DrivePrompt:
    needed = (Argument(one, kind, f"{name}.{one}", required=True) for one, kind in required.items())
    more = (Argument(one, kind, f"{name}.{one}") for one, kind in optional.items())
    return DrivePrompt(name, (*needed, *more, Argument("language", "language", "language")))


SUMMARISE_FILE: Final = _prompt("summarise_file", {"file": "file"}, {})
COMPARE_DOCUMENTS: Final = _prompt("compare_documents", {"first": "file", "second": "file"}, {})
TIDY_FOLDER: Final = _prompt("tidy_folder", {}, {"folder": "folder"})
WHAT_CHANGED: Final = _prompt("what_changed_this_week", {}, {"folder": "folder", "person": "person"})
PROMPTS: Final = (SUMMARISE_FILE, COMPARE_DOCUMENTS, TIDY_FOLDER, WHAT_CHANGED)


def language_of(text: str) -> Language:
    """Return zh if a fair part of the text's letters are Chinese characters, else en."""
    letters = [char for char in text[:MAX_LETTERS] if char.isalpha()]
    chinese = sum("\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf" for char in letters)
    return "zh" if letters and chinese >= CHINESE_SHARE * len(letters) else "en"
