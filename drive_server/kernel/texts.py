"""Texts in every language, as data: a room has `texts/<language>.json` beside its modules, from code to text.

A text may have parameters in braces, as `str.format` reads them. A text that depends on a number is an object with the
forms `one` and `other`; the parameter `count` chooses the form. A list or another object holds words, for
`Texts.value`. To add a language, add its file to every room: no code names the languages.
"""

import json
from pathlib import Path
from typing import Any, Final, TypeAlias

Language: TypeAlias = str
"""The name of a file of texts, such as `en` (BCP 47, without a region)."""
ORIGINAL: Final[Language] = "en"
"""The language that every room has."""


class Texts:
    """The texts of one room, read at once: later an event loop would wait for a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[Language, dict[str, Any]] = {
            file.stem: json.loads(file.read_bytes()) for file in sorted(folder.glob("*.json"))
        }

    @classmethod
    def beside(cls, module: str) -> "Texts":
        """Return the texts in the folder of a module, which names itself by its `__file__`."""
        folder = Path(module).parent / "texts"
        if folder not in ALL:
            ALL[folder] = cls(folder)
        return ALL[folder]

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages that have a file here, in alphabetical order."""
        return tuple(self._read)

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all texts."""
        return frozenset(self._words(ORIGINAL))

    def __contains__(self, code: str) -> bool:
        return code in self._words(ORIGINAL)

    def say(self, code: str, language: Language, /, **params: Any) -> str:
        """Return the text of a code with its parameters. Raises KeyError for an unknown code or a missing parameter."""
        return self.template(code, language, params.get("count")).format(**params)

    def template(self, code: str, language: Language, count: Any = None) -> str:
        """Return the text of a code with its parameters unfilled, in the form for the count."""
        found = self.value(code, language)
        return found if isinstance(found, str) else _form(found, count)

    def value(self, code: str, language: Language) -> Any:
        """Return the text, list or object of a code as its file has it. Raises KeyError for an unknown code."""
        return self._words(language)[code]

    def _words(self, language: Language) -> dict[str, Any]:
        return self._read.get(language) or self._read[ORIGINAL]


ALL: Final[dict[Path, Texts]] = {}
"""The texts of every room that was imported, by folder."""


def _form(forms: dict[str, str], count: Any) -> str:
    return forms.get("one", forms["other"]) if count == 1 else forms["other"]
