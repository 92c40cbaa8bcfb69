"""A small notation for sentence patterns, and its compilation to regular expressions.

`{move}` stands for a list of words, `<target>` for anything (a slot), `(a|b)` for either, `[x ]` for x or nothing.
A slot's name may carry what it holds: `<email:emails>` is a list of addresses, `<n:number>` a number, `<q:quote>` a
quotation, `<t:greedy>` takes as much as it can; `<_>` is
anything that nobody asks about. A pattern has to match a whole clause. Spaces in Chinese patterns only
keep them readable.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from graph.offline.understanding import lexicon_en, lexicon_zh, lists_en, lists_zh, verbs_en, verbs_zh
from graph.offline.understanding.masking import EMAIL, EXTENSIONS, FILE, PATH, QUOTE, SUFFIX
from graph.state import Language

NAMED: Final = f"(?:{QUOTE[:-1]}{FILE[1:-1]}{PATH[1:]})"
SLOT_FORMS: Final = {
    "any": ".+?",
    "greedy": r".+(?<!\bover)(?<!\bback)(?<!\ball)",
    "quote": QUOTE,
    "named": f"[^,;:]*?(?:{QUOTE}|{FILE}|{PATH})",
    "email": EMAIL,
    "emails": f"{EMAIL}(?:(?:\\s|,|、|;|and|&|和|与|及|跟|as well as)*{EMAIL})*",
    "number": r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|fourth|fifth|"
    r"[一二两三四五六七八九十]",
    "ordinal": r"\d+|first|second|third|fourth|fifth|last|1st|2nd|3rd|[一二两三四五六七八九十]",
    "extension": rf"\.?(?:{EXTENSIONS})",
    "word": r"\w+",
    "someone": r"(?!(?:me|us|it|that|this|the|a|an|my)\b)\w+",
    "thislike": r"(?:this|that|the) (?:file|folder|document|doc|note|directory)|it|that|this",
    "rest": ".*?",
    "fileword": f"(?:{QUOTE}|{FILE}|{PATH})",
    "item": f"(?:{QUOTE}|{FILE}|{PATH}|[\u3400-\u9fff]{{1,12}}{SUFFIX}|(?:(?:the|my|our) )?(?:[\\w'&-]+ "
    f"){{1,3}}?(?:folder|directory)|(?:the )?(?:folder|directory) (?:{QUOTE}|[\\w'&-]+)|"
    f"[\u3400-\u9fffA-Za-z0-9_-]{{1,12}}?(?:文件夹|目录))",
    "folderitem": "(?:(?:[\\w'&-]+ ){1,3}?(?:folder|directory)|(?:folder|directory) [\\w'&-]+|"
    "[\u3400-\u9fffA-Za-z0-9_-]{1,12}?(?:文件夹|目录))",
    "currentlike": "this|this (?:document|file|text|doc)|it|这份文档|这个文件|这篇文章|本文|这份|这个",
    "little": ".{0,12}?",
    "folderlike": f"[^{FILE[1:-1]}]+?",
    "therelike": "(?:in |over |into |inside |to |down )?(?:there|here)",
    "insidelike": "(?:到|进|入|在)?.+?(?:里面|里|中|内|下面|下)",
    "summarylike": "它|这个|那个|总结|摘要",
    "previous": "previous|last|prior|earlier|preceding|original|first|上一个|前一个|之前|上个|以前|先前|上一|前一|"
    "原来|最初|旧",
    "roleword": "(?:an? |the )?(?:only |also )?(?:edit(?:or|ing|s)?|writ(?:e|er|ing)|chang(?:e|ing)|modify(?:ing)?|"
    "view(?:er|ing)?|read(?:er|ing)?|see|look at|open|access|collaborat(?:e|or|ing)|contribut(?:e|or)|"
    "work on|comment(?: on|er)?|update)|只?(?:编辑|修改|改|写|查看|看|读|只读|访问|阅读|协作)",
    "doclike": f".{{0,20}}?(?:{FILE}|{QUOTE}|(?:文档|文件|文章|文中|文里|本文|正文|手册|合同|政策|制度|规定|指南|"
    f"报告|规范|协议|说明书|条例|章程)(?!{SUFFIX}))",
    "questionlike": ".*?(?:什么|几|多少|哪|谁|怎么|如何|为什么|是否|吗|多久|多长|何时).*",
}
_PLAIN_GROUP = re.compile(r"(?:\((?!\?)|\[)(?P<words>[^()\[\]{}<>\\?*+]*\|[^()\[\]{}<>\\?*+]*)(?:\)|\])")
_TOKEN = re.compile(
    r"\{(?P<macro>\w+)\}|<(?P<slot>\w+)(?::(?P<form>\w+))?>|(?P<open>\[)|(?P<close>\])|(?P<group>\()(?!\?)"
)


def compile_pattern(pattern: str, language: Language) -> re.Pattern[str]:
    """Translate one pattern. A word list or a slot form that does not exist raises `KeyError`."""
    source = _longest_first(pattern.replace(" ", "") if language == "zh" else pattern)
    return re.compile(_TOKEN.sub(lambda token: _translate(token, macros(language)), source), re.IGNORECASE | re.DOTALL)


def _longest_first(pattern: str) -> str:
    """Put alternatives of plain words in an order in which none hides a longer one."""

    def ordered(group: re.Match[str]) -> str:
        words = group["words"].split("|")
        return f"{group[0][0]}{'|'.join(sorted(words, key=len, reverse=True))}{group[0][-1]}"

    return _PLAIN_GROUP.sub(ordered, pattern)


def _translate(token: re.Match[str], words: Mapping[str, str]) -> str:
    if token["macro"]:
        return f"(?:{words[token['macro']]})"
    if token["slot"]:
        form = SLOT_FORMS[token["form"] or "any"]
        return f"(?:{form})" if token["slot"] == "_" else f"(?P<{token['slot']}>{form})"
    return "(?:" if token["open"] or token["group"] else ")?"


@cache
def macros(language: Language) -> Mapping[str, str]:
    """Return the word lists that patterns of the language may use, as regular expressions."""
    return _english() if language == "en" else _chinese()


def _english() -> dict[str, str]:
    verbs: dict[str, str] = {}
    for name, phrases in verbs_en.VERBS.items():
        verbs[name] = _either([form for phrase in phrases for form in (phrase, _inflect(phrase, _gerund))])
        verbs[f"{name}_done"] = _either([_inflect(phrase, _participle) for phrase in phrases])
    pronouns = {name.replace(" ", "_"): pattern for name, pattern in lexicon_en.PRONOUNS.items()}
    return {**verbs, **pronouns, **lists_en.LISTS, "quoted": QUOTE, "mail": EMAIL, "named": NAMED}


def _chinese() -> dict[str, str]:
    once = "(?:一下子|一下|下(?!载|午|周|面|个|次|月|班|属|级|半|列|一)|一遍|一番|一个|个)?"
    verbs = {
        name: rf"\s?(?:{_chinese_verbs((*phrases, *verbs_zh.BORROWED.get(name, ())))}){once}\s?"
        for name, phrases in verbs_zh.VERBS.items()
    }
    pronouns = {name.replace(" ", "_"): pattern for name, pattern in lexicon_zh.PRONOUNS.items()}
    return {**verbs, **pronouns, **lists_zh.LISTS, "quoted": QUOTE, "mail": EMAIL, "named": NAMED}


def _either(phrases: "list[str] | tuple[str, ...]") -> str:
    return "|".join(re.escape(phrase) for phrase in sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase)))


def _chinese_verbs(phrases: tuple[str, ...]) -> str:
    """A single character is a verb only where it does not begin another word: 收 to put, 收件箱 the inbox."""
    longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    return "|".join(re.escape(verb) + _not_before(verbs_zh.BEGINS_NOUN.get(verb, "")) for verb in longest_first)


def _not_before(characters: str) -> str:
    return f"(?![{characters}])" if characters else ""


def _inflect(phrase: str, change: "type[str] | object") -> str:
    first, _, rest = phrase.partition(" ")
    changed = change(first) if callable(change) else first
    return f"{changed} {rest}" if rest else str(changed)


def _gerund(verb: str) -> str:
    if verb in verbs_en.DOUBLING:
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"


def _participle(verb: str) -> str:
    if verb in verbs_en.PARTICIPLES:
        return verbs_en.PARTICIPLES[verb]
    if verb in verbs_en.DOUBLING:
        return f"{verb}{verb[-1]}ed"
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"
