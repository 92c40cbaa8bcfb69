"""Requests about each of many files: a summary of every one, or which of them mention something."""

import re
from dataclasses import replace
from typing import Final

from graph.offline.understanding.intents import Intent
from graph.offline.understanding.masking import Masked
from graph.offline.understanding.references import CURRENT_FOLDER, Ref, parse_reference
from graph.state import Language

_NOUN_EN: Final = (
    r"(?:(?:[a-z]+ )?(?:files?|documents?|docs?|contracts?|reports?|notes?|pdfs?|papers?|invoices?|letters?|"
    r"agreements?|articles?|minutes|texts?|memos?|emails?|mails?|one of (?:them|these|those)))"
)
_IN_EN: Final = (
    r"(?:\s+(?:here|(?:that are |stored |saved )?(?:in|inside|of|from|under|within|below) (?P<folder>.+?)))?"
)
_EACH_EN: Final = (
    rf"(?:(?:each|every(?: single)?)(?: of)?(?: (?:the|my|our|these|those))? {_NOUN_EN}|"
    rf"all(?: of)?(?: (?:the|my|our|these|those))? {_NOUN_EN})"
)
_NOUN_ZH: Final = "(?:文件|文档|合同|协议|报告|笔记|资料|文章|论文|发票|信|信件|邮件|纪要|文本)"
_EACH_ZH: Final = "(?:每一?[个份篇封]|所有|全部|各个|各份)(?:的)?"
_SUM_ZH: Final = "(?:总结|概括|归纳|概述|小结|摘要)"
_FOLDER_ZH: Final = "(?P<folder>[^,，。]+?)"
_AT_ONCE_ZH: Final = "(?:都|分别|逐一|逐个|逐份|挨个|一一)*"
_INSIDE_ZH: Final = "(?:里面|里头|里|中|下面|下|内)"

_SUMMARISE: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "en": (
        re.compile(
            rf"(?:summari[sz]e|sum up|recap|outline|digest|describe|go through|(?:give|write|make|show)(?: me| us)? "
            rf"(?:a|one)(?: short| brief| one-line| quick)? (?:summary|overview|gist) (?:of|for)) {_EACH_EN}{_IN_EN}"
            r"(?: (?:in|into|to|and) (?:one|a|two|three|1|2|3|summari[sz]e).*)?",
            re.IGNORECASE,
        ),
        re.compile(
            r"(?:summari[sz]e|sum up|recap) (?P<folder>(?:this|the|that) folder(?: .+?)?),? "
            r"(?:file by file|one by one)",
            re.IGNORECASE,
        ),
    ),
    "zh": (
        re.compile(f"(?:把|将|对|请把)?(?:{_FOLDER_ZH}{_INSIDE_ZH}的?)?{_EACH_ZH}{_NOUN_ZH}{_AT_ONCE_ZH}(?:做|写|进行)?(?:个|一个)?{_SUM_ZH}(?:一下|一遍|出来|下)?"),
        re.compile(f"{_AT_ONCE_ZH}{_SUM_ZH}(?:一下|下)?(?:{_FOLDER_ZH}{_INSIDE_ZH}的?)?{_EACH_ZH}{_NOUN_ZH}(?:的(?:内容|要点|大意))?"),
        re.compile(f"(?:分别|逐一|逐个|逐份|挨个){_SUM_ZH}(?:一下|下)?{_FOLDER_ZH}{_INSIDE_ZH}的?{_NOUN_ZH}"),
    ),
}  # fmt: skip
_MENTION: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "en": (
        re.compile(
            rf"which(?: ones)? of (?:the|these|those|my|our) {_NOUN_EN}{_IN_EN} (?:mentions?|contains?|covers?|"
            r"includes?|refers? to|talks? about|discuss(?:es)?|says? (?:something|anything) about|deals? with) "
            r"(?P<query>.+)",
            re.IGNORECASE,
        ),
    ),
    "zh": (
        re.compile(
            f"(?:(?:这些|那些)|{_FOLDER_ZH}{_INSIDE_ZH}的?){_NOUN_ZH}(?:里面|里|中|当中)?,?(?:有)?(?:哪些|哪个|哪几[个份])"
            f"(?:{_NOUN_ZH})?(?:提到|提及|包含|涉及|说到|讲到|谈到|写到)(?:了|过)?(?P<query>.+)"
        ),
    ),
}
_HERE: Final = re.compile(
    r"(?:this|the current|current|that) (?:folder|directory)|here|这里|此处|(?:这个|当前|本|该)(?:文件夹|目录)"
)
_ALL: Final = re.compile(r"(?:my|the|our) (?:whole )?drive|(?:我的)?(?:云盘|网盘)", re.IGNORECASE)
ROOT: Final = Ref("path", text="/", kind="folder")


def many(clause: str, masked: Masked, language: Language) -> Intent | None:
    """Return what is asked of each of many files, with the folder that they are in; None if the clause is no such."""
    said = masked.reveal(clause).strip()
    for pattern in _SUMMARISE[language]:
        if found := pattern.fullmatch(clause):
            return Intent("map_files", said=said, target=_folder(found, masked, language))
    for pattern in _MENTION[language]:
        if found := pattern.fullmatch(clause):
            query = masked.reveal(found["query"]).strip(' ?？。."“”「」')
            return Intent("map_files", said=said, target=_folder(found, masked, language), query=query)
    return None


def _folder(found: re.Match[str], masked: Masked, language: Language) -> Ref:
    said = (found.groupdict().get("folder") or "").strip()
    if not said or _HERE.fullmatch(said):
        return CURRENT_FOLDER
    if _ALL.fullmatch(said):
        return ROOT
    named = parse_reference(said, masked, language)
    return CURRENT_FOLDER if named is None or named.is_pronoun else replace(named, kind="folder")
