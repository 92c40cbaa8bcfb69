"""The rows of `grammar.tsv`: the phrases for each action, and the shapes of an action's arguments.

An English shape reads the words after the verb. In the Chinese one beside it, which reads the whole clause, VERB
stands for the verbs of the action, the router's own (`graph.routing.intent_table`) if it has any. MAIL is an address.

The terms of a text are stems of English words, and pairs of Chinese characters.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from graph.routing.intent_table import ROWS

_VERBS: Final[dict[str, str]] = {
    row.action: f"(?:{'|'.join(filter(None, (row.endings.replace('$', ''), row.verbs)))})" for row in ROWS
} | {
    "add": r"(?:追加|补充|插入|添加|新增|加上|加入|加|添|写上|写入|写)",
    "replace": r"(?:替换(?:成|为)|改(?:成|为|到)|换(?:成|为)|变(?:成|为)|更新为|修改为|替换|修改|更正为|写成)",
    "remove_text": "(?:删除|删掉|删去|去掉|移除|删了|删)",
    "revoke": "(?:取消|停止)(?:共享|分享)", "create_folder": "(?:新建|创建|建立|新增|添加|建|弄|加|开)",
    "create_file": "(?:新建|创建|建立|新增|保存|建|写|存)(?:成|为|到)?",
}  # fmt: skip
_TEXT: Final = (Path(__file__).parents[1] / "grammar.tsv").read_text(encoding="utf-8")
_ROWS: Final = [(*line.split("\t"), "")[:4] for line in _TEXT.splitlines()]


def table(part: str, side: int = 2) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the rows of a part of the table, in order: names and patterns."""
    return tuple((row[1], re.compile(row[side], re.IGNORECASE)) for row in _ROWS if row[0] == part and row[side])


def _shape(name: str, pattern: str) -> re.Pattern[str]:
    verbs = pattern.replace("VERB", _VERBS.get(name, "(?!)"))
    return re.compile(verbs.replace("MAIL", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+"), re.IGNORECASE)


_WORDS: Final = dict(table("word"))
_ENGLISH, _CHINESE = (
    [(row[1], _shape(row[1], row[side])) for row in _ROWS if row[0] == "shape" and row[side]] for side in (2, 3)
)


def _rule(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a rule, with those of words where it names them in braces."""
    return re.compile(re.sub(r"{([a-z_]+)}", lambda name: f"(?:{_WORDS[name[1]].pattern})", pattern), re.IGNORECASE)


_RULES: Final = [(row[1], row[2].split("|"), _rule(row[3])) for row in _ROWS if row[0] == "rule"]


def ruled(rows: Collection[str], clause: str) -> str:
    """Return the action of the first rule that fits a clause; `rows` is the router's row, in each of its forms."""
    fits = (action for action, of, pattern in _RULES if (of == ["*"] or {*of} & {*rows}) and pattern.search(clause))
    return next(fits, "")


def word(name: str) -> re.Pattern[str]:
    """Return the pattern of that name."""
    return _WORDS[name]


def named_in(name: str, text: str) -> str:
    """Return the first group that the pattern of that name finds in a text, empty if there is none."""
    match = _WORDS[name].search(text)
    return next(filter(None, match.groups()), "").strip() if match else ""


def slots(action: str, clause: str, *, chinese: bool) -> Mapping[str, str] | None:
    """Return the arguments that a clause names beside the action's verb; None if it has none of the action's shapes."""
    if not chinese:
        placed = _WORDS["english_placed"].match(clause) if action in {"replace", "remove_text", "add"} else None
        if placed:
            rest = slots(action, clause[placed.end() :], chinese=False)
            return {"target": placed["target"], **(rest or {})}
        clause = _WORDS["english_verb"].sub("", clause, count=1)
    if not clause.strip() or (chinese and re.fullmatch(rf"{_VERBS.get(action, '')}(?:吧|一下|掉|了|啊)*", clause)):
        return {}
    matches = (shape.fullmatch(clause.strip()) for name, shape in (_CHINESE if chinese else _ENGLISH) if name == action)
    groups = next((match.groupdict() for match in matches if match), None)
    return None if groups is None else {key: value.strip() for key, value in groups.items() if value and value.strip()}


CJK: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN: Final = re.compile(f"[{CJK}]")
_RUN: Final = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[-'’][^\W_{CJK}]+)*")
_SUFFIX: Final = re.compile(r"(?:ations?|ings?|ments?|ers?|als?|ies|ied|ed|es|s|ly|y|e)$")
SHORTEST_STEM, SHORTEST_MISSPELT, ALIKE = 4, 5, 0.84
STOP_WORDS: Final = frozenset(word("stop_words").pattern.split("|"))
STOP_CHARACTERS: Final = frozenset(word("stop_characters").pattern)


def has_han(text: str) -> bool:
    """Return whether there is a Chinese character in the text."""
    return _HAN.search(text) is not None


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, without words that say nothing."""
    runs = _RUN.findall(text.lower().replace("_", " "))
    return [term for run in runs for term in (_pairs(run) if _HAN.match(run) else _stems(run))]


def stem(word: str) -> str:
    """Cut an English word to the part that its forms share: summaries, summary -> summar."""
    cut = _SUFFIX.sub("", word)
    return cut if len(cut) >= SHORTEST_STEM else (word.removesuffix("s") if len(word) >= SHORTEST_STEM else word)


def _stems(run: str) -> list[str]:
    parts = re.split(r"[-'’]", run)
    whole = ["".join(parts)] if len(parts) > 1 and len(parts[-1]) > 1 else []
    return [stem(part) for part in (*parts, *whole) if part not in STOP_WORDS]


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [] if run in STOP_CHARACTERS else [run]
    return [run[at : at + 2] for at in range(len(run) - 1) if not set(run[at : at + 2]) & STOP_CHARACTERS]


def respelt(wanted: Iterable[str], written: set[str]) -> set[str]:
    """Return the wanted terms; one that is written nowhere as the written term that it is a slip away from."""
    found: set[str] = set()
    for term in wanted:
        misspelt = term not in written and len(term) >= SHORTEST_MISSPELT and term.isascii() and term.isalpha()
        found.update((get_close_matches(term, written, n=1, cutoff=ALIKE) if misspelt else []) or [term])
    return found
