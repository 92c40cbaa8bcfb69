"""What a phrase refers to: a named item, a pronoun, a topic, everything in a folder."""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal

from graph.offline.understanding.grammar import compile_pattern
from graph.offline.understanding.lexicon_en import PRONOUNS as ENGLISH_PRONOUNS
from graph.offline.understanding.lexicon_zh import PRONOUNS as CHINESE_PRONOUNS
from graph.offline.understanding.masking import FILE, PATH, QUOTE, Masked
from graph.offline.understanding.reference_patterns import REFERENCES
from graph.state import Language

Form = Literal["name", "path", "about", "all", "it", "there", "them", "current file", "current folder", "the summary"]
ItemKind = Literal["file", "folder", ""]

_MARKED = re.compile(f"{QUOTE[:-1]}{FILE[1:-1]}{PATH[1:]}")
_BETWEEN: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(r"\s*(?:,\s*(?:and\s+)?|\band\b|&|\bplus\b|\bas well as\b)\s*", re.IGNORECASE),
    "zh": re.compile(r"\s*(?:[,，、]\s*和?|和|与|及|以及|跟)\s*"),
}
_COUNTED = re.compile(
    r"^(?:the |these |those |my )?(?:two|three|four|five|six|several|\d+) (?:files|folders|documents|notes|"
    r"items)[: ]+|(?:这)?(?:两|三|四|五|六|几|\d+)(?:个|份)(?:文件夹|文件|文档|目录)$",
    re.IGNORECASE,
)
_ADVERBS = re.compile(
    r"(?<=\S)\s+(?:any ?more|any longer|right now|currently|at the moment|these days|to the essentials|once more|"
    r"in full|for good measure)$",
    re.IGNORECASE,
)
_EDGES: Final = " \t\n.,;:!?，。；：！？、"
_ONLY_EXTENSION = re.compile(FILE)
_ONLY_MARK = re.compile(f"(?:{QUOTE}|{PATH}|{FILE})")


@dataclass(frozen=True, slots=True)
class Ref:
    """One reference. `text` is a name, a path or a topic as said; `inside` the folder it is looked for in.

    `whole` is the phrase as said, for names that only look like something else. `others` are further items meant.
    """

    form: Form
    text: str = ""
    kind: ItemKind = ""
    inside: "Ref | None" = None
    extension: str = ""
    whole: str = ""
    exact: bool = False
    others: tuple["Ref", ...] = ()

    def __str__(self) -> str:
        return " + ".join([self._alone(), *(str(other) for other in self.others)])

    def _alone(self) -> str:
        if self.form == "all":
            return f"*{self.extension} in {self.inside}"
        if self.form == "about":
            return f"about {self.text}"
        return self.text if self.form in {"name", "path"} else self.form

    @property
    def is_pronoun(self) -> bool:
        """Whether it stands for something that was mentioned elsewhere."""
        return self.form in {"it", "there", "them"}


CURRENT_FILE: Final = Ref("current file")
CURRENT_FOLDER: Final = Ref("current folder", kind="folder")
IT: Final = Ref("it")
THERE: Final = Ref("there", kind="folder")
SUMMARY: Final = Ref("the summary", kind="file")


def parse_reference(raw: str, masked: Masked, language: Language) -> Ref | None:
    """Return what a phrase of a masked text refers to; None if nothing is left of it."""
    phrase = _ADVERBS.sub("", _COUNTED.sub("", raw.strip(_EDGES))).strip(_EDGES)
    if not phrase:
        return None
    parts = [part for part in _BETWEEN[language].split(phrase) if part]
    if len(parts) > 1 and all(_MARKED.search(part) for part in parts):
        first, *others = (_single(part, masked, language) for part in parts)
        return replace(first, others=tuple(others))
    return _single(phrase, masked, language)


def split_list(raw: str, language: Language) -> list[str]:
    """Cut "A, B and C" into its parts."""
    return [part for part in _BETWEEN[language].split(raw.strip(_EDGES)) if part.strip(_EDGES)]


def _single(phrase: str, masked: Masked, language: Language) -> Ref:
    if _ONLY_MARK.fullmatch(phrase):
        return _named(phrase, "", masked, whole=phrase)
    return _pronoun(phrase, language) or _matched(phrase, masked, language) or _named(phrase, "", masked, whole=phrase)


def _pronoun(phrase: str, language: Language) -> Ref | None:
    for form, pattern in _pronouns(language):
        if pattern.fullmatch(phrase):
            return Ref(form, kind=_KIND_OF_FORM.get(form, ""))
    return None


_KIND_OF_FORM: Final[dict[Form, ItemKind]] = {
    "there": "folder", "current folder": "folder", "current file": "file", "the summary": "file",
}  # fmt: skip


@cache
def _pronouns(language: Language) -> list[tuple[Form, re.Pattern[str]]]:
    table = ENGLISH_PRONOUNS if language == "en" else CHINESE_PRONOUNS
    forms: tuple[Form, ...] = ("current file", "current folder", "the summary", "it", "there", "them")
    return [(form, re.compile(table[form], re.IGNORECASE)) for form in forms]


@cache
def _patterns(language: Language) -> list[tuple[str, ItemKind, re.Pattern[str]]]:
    known: dict[str, ItemKind] = {"file": "file", "folder": "folder", "": ""}
    return [(form, known[kind], compile_pattern(pattern, language)) for form, kind, pattern in REFERENCES[language]]


def _matched(phrase: str, masked: Masked, language: Language) -> Ref | None:
    for form, kind, pattern in _patterns(language):
        match = pattern.fullmatch(phrase)
        if match:
            return _from_match(form, kind, match, masked, language)
    return None


def _from_match(form: str, kind: ItemKind, match: re.Match[str], masked: Masked, language: Language) -> Ref:
    groups = match.groupdict()
    container = _container(groups.get("inside") or "", masked, language)
    if container and container.form in {"name", "path"}:
        container = replace(container, kind="folder")
    if form == "all":
        extension = f".{groups['ext'].lstrip('.').lower()}" if groups.get("ext") else ""
        return Ref("all", inside=container or CURRENT_FOLDER, extension=extension, whole=masked.reveal(match[0]))
    if form == "about":
        return Ref("about", text=_clean(groups["text"], masked), whole=masked.reveal(match[0]))
    if _ONLY_EXTENSION.fullmatch(groups["text"]) and masked.reveal(groups["text"]).startswith("."):
        return _named(match[0], "file", masked, whole=match[0])
    return replace(_named(groups["text"], kind, masked, whole=match[0]), inside=container)


def _container(phrase: str, masked: Masked, language: Language) -> Ref | None:
    phrase = phrase.strip(_EDGES)
    if phrase in {"这个", "当前", "本", "此", "这", "this", "the current"}:
        return CURRENT_FOLDER
    return _single(phrase, masked, language) if phrase else None


def _named(text: str, kind: ItemKind, masked: Masked, *, whole: str) -> Ref:
    name = _clean(text, masked)
    is_path = "/" in name and not name.endswith("://")
    return Ref(
        "path" if is_path else "name",
        text=name if not is_path or name.startswith("/") else f"/{name}",
        kind=kind,
        whole=masked.reveal(whole.strip(_EDGES)),
        exact=bool(_ONLY_MARK.fullmatch(text.strip(_EDGES))),
    )


def _clean(text: str, masked: Masked) -> str:
    return masked.reveal(text.strip(_EDGES)).strip()
