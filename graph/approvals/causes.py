"""Find possible causes of a call: foreign passages that have its addresses, its targets' names or its words. Pure.

A model may obey a text that it reads. So a passage can have caused a call if it has an address or an id of
its arguments, the name of an item that the call touches, or much of a text that the call writes. A search hit that has
none of these was in view by chance, and is not named. A file that was opened in the running turn is named in any case:
a text may ask for something in other words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from graph.approvals.passages import Stretch, passage_of
from graph.policy.vouching import names_it
from graph.state import Passage, Taint

MAX_SOURCES: Final = 3
EXACT: Final = 25
"""Weight of a common address, id or name, in words."""
FEWEST_WORDS: Final = 2
SHARE_OF_WORDS: Final = 0.3
"""The share of the words of the passage, or of the call if that has fewer, that has to be in both."""
SHORTEST_TEXT: Final = 20
"""An argument with as many characters counts as a text, a shorter one as a setting such as `viewer`."""

_EXACT: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+|\b[0-9a-f]{16,}\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_\u3400-\u9fff]{4,}|\d{2,}|[\u3400-\u9fff]{2}")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_COMMON_WORDS: Final = """\
about after also been before being could does each every from have here into just like made make many more
most much must need only other over same shall should some such than that their them then there these they
this those through under used using very want well were what when where which while will with would your"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())
_NAMES: Final = frozenset({"name", "names", "title"})
_ORDERS: Final = {
    "trash": r"trash|delete|remove|erase|discard|删除|刪除|移除|清理|回收站|丢掉|扔",
    "delete": r"delete|remove|erase|purge|删除|刪除|移除|清除",
    "empty": r"empty|delete|purge|清空|删除",
    "move": r"mov(?:e|ing)|移动|移到|移至|搬|放到|放进",
    "rename": r"renam(?:e|ing)|重命名|改名",
    "share": r"shar(?:e|ing)|access|invite|共享|分享|授权",
    "create": r"creat(?:e|ing)|write|新建|创建|写",
    "write": r"write|replace|change|写|改",
}
"""Words that order a call, by the first word of its tool's name."""


class Causes(NamedTuple):
    """The passage that most likely led to a call, if any did, and the files that may have."""

    passage: Passage | None
    sources: list[Taint]


@dataclass(frozen=True, slots=True)
class Subject:
    """A call as a text could have asked for it: its arguments, and the names and ids of the items that it touches."""

    tool: str
    args: Mapping[str, Any]
    names: Sequence[str] = ()
    items: frozenset[str] = frozenset()


def causes_of(subject: Subject, stretches: Sequence[Stretch]) -> Causes:
    """Return the possible causes: texts that flow into the call first, then opened files; nothing without either."""
    wanted = _Wanted(subject)
    scored = [(wanted.score(stretch), stretch) for stretch in stretches]
    likely = sorted((found for found in scored if found[0]), key=lambda found: -found[0])
    best = [stretch for _, stretch in likely]
    chosen = [*best, *(stretch for stretch in stretches if stretch.is_opened)]
    files = {(one.taint["file_id"] or one.taint["name"]): one.taint for one in chosen}
    if not chosen:
        return Causes(None, [])
    return Causes(passage_of(chosen[0].taint, chosen[0].words), [*files.values()][:MAX_SOURCES])


class _Wanted:
    """The addresses, names and words of a call."""

    def __init__(self, subject: Subject) -> None:
        said = [*_strings(subject.args, "")]
        self._exact = {found for _, value in said for found in _exact(value)}
        own = (value for key, value in said if key in _NAMES)
        self._names = [name for name in dict.fromkeys([*own, *subject.names]) if name.strip("/")]
        self._items = subject.items
        self._words = {word for key, value in said if key not in _NAMES and _is_text(value) for word in _words(value)}
        order = _ORDERS.get(subject.tool.partition("_")[0])
        self._order = re.compile(order, re.IGNORECASE) if order else None

    def score(self, stretch: Stretch) -> int:
        """Return how much of the call is in the passage; 0 if it has nothing of it but by chance."""
        exact = len(self._exact & {*_exact(stretch.words)})
        return EXACT * (exact + self._named(stretch)) + self._written(stretch.words)

    def _named(self, stretch: Stretch) -> int:
        """Return how many names of the call stand in the passage. An ordinary word is a name only beside another one.

        A file's own name in it says nothing.
        """
        own = stretch.taint["name"] if stretch.taint["file_id"] in self._items else None
        found = [name for name in self._names if name != own and names_it(name, stretch.words)]
        is_ordered = bool(self._order and self._order.search(stretch.words))
        certain = len(found) > 1 or any(_is_distinctive(name, stretch.words) for name in found) or is_ordered
        return len(found) if certain else 0

    def _written(self, words: str) -> int:
        """Return how many words of a text that the call writes stand in the passage; 0 for a few."""
        there = {*_words(words)}
        common = len(self._words & there)
        least = min(len(self._words), len(there)) * SHARE_OF_WORDS
        return common if common >= FEWEST_WORDS and common >= least else 0


def _is_distinctive(name: str, words: str) -> bool:
    """Say whether a name is more than one ordinary word where it stands: it has two, or is there with its suffix."""
    stem = name.rpartition(".")[0] or name
    is_long = len(_HAN.findall(stem)) > FEWEST_WORDS or len(re.findall(r"[^\W_]+", stem)) > 1
    return is_long or ("." in name and name.casefold() in words.casefold())


def _is_text(value: str) -> bool:
    return len(value) >= SHORTEST_TEXT or " " in value.strip() or len(_HAN.findall(value)) > FEWEST_WORDS


def _exact(text: str) -> Iterator[str]:
    return (found.lower().rstrip(".,;)") for found in _EXACT.findall(text))


def _words(text: str) -> Iterator[str]:
    found = (word.lower() for word in _WORD.findall(_EXACT.sub(" ", text)))
    return (word for word in found if word not in _COMMON)


def _strings(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield every text in the arguments with the name of its field, however deep it is nested."""
    pending: list[tuple[str, Any]] = [(key, value)]
    while pending:
        name, one = pending.pop()
        if isinstance(one, str):
            yield name, one
        elif isinstance(one, Mapping):
            pending += [(str(key), inner) for key, inner in cast("Mapping[Any, Any]", one).items()]
        elif isinstance(one, list):
            pending += [(name, inner) for inner in cast("list[Any]", one)]
