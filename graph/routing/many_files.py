"""Requests about each file of a folder and then all together, in English and Chinese: planned as a `map` step."""

import re
from collections.abc import Mapping
from typing import Final

from graph.language import Language

READ_CHARACTERS: Final = 500

_NOUNS: Final = (
    r"(?:files?|documents?|docs?|contracts?|reports?|notes?|pdfs?|papers?|invoices?|letters?|agreements?|articles?"
    r"|minutes|memos?|one of (?:them|these|those))"
)
_NOUNS_ZH: Final = "(?:文件|文档|合同|协议|报告|笔记|资料|文章|论文|发票|信件|邮件|纪要)"
_READ_ZH: Final = "(?:总结|概括|归纳|概述|分析|阅读)(?:一下|下)?"

EACH: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"^(?:please |could you |can you |would you |kindly )*(?:summari[sz]e|sum up|recap|outline|describe|analy[sz]e"
        r"|review|go through|read)(?: (?:me|us))? "
        rf"(?:each|every(?: single)?)(?: of)?(?: (?:the|my|our|these|those))?(?: \w+)? ?{_NOUNS}\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        rf"^(?:请|麻烦|帮我|帮忙|你?能不能|可以|把|将)*(?:"
        rf"{_READ_ZH}.{{0,40}}?(?:每一?[个份篇封]|各[个份]).{{0,6}}?{_NOUNS_ZH}"
        rf"|(?:逐[个一份篇]|分别|挨个){_READ_ZH}.{{0,40}}?{_NOUNS_ZH}"
        rf"|.{{0,40}}?(?:每一?[个份篇封]|各[个份]).{{0,6}}?{_NOUNS_ZH}.{{0,8}}?{_READ_ZH})"
    ),
}
"""The same for each file; words before the verb are only politeness."""

WHOLE: Final[Mapping[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"\s*(?:,|;|\.|\band\b|\bthen\b|\bplus\b|\bfinally\b|\bafterwards\b)"
        r"(?:[ ,]*\b(?:and|then|also|finally|afterwards|after that|at the end|please|give|write|make|show|tell|me|us"
        r"|do|sum up|summari[sz]e|recap|outline|describe|analy[sz]e|with|add)\b)*\s*\b(?:"
        r"the whole(?: (?:folder|thing|lot|set|collection))?"
        r"|(?:an? |one )?overall (?:summary|overview|conclusion|picture)"
        r"|(?:a |the |one )?(?:summary|overview|conclusion) of (?:them all|the whole(?: folder)?|everything"
        r"|all(?: of (?:them|it))?)|(?:all of (?:them|it)|them all|everything|all) (?:together|as a whole)"
        r"|altogether)\W*$",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"\s*(?:[,，;；。]|再|然后|最后|并且?|接着|之后)[^,，;；。]{0,12}?(?:"
        r"(?:整体|总体|总的|综合|全部|整个(?:文件夹|目录)?|所有文件|合起来|合在一起)(?:的|再|做|进行|来|一个|一份|个)*"
        rf"(?:{_READ_ZH}|结论|综述|摘要|汇总)(?:报告)?|汇总(?:成一[份个].{{0,6}})?|{_READ_ZH}(?:整体|全部|整个文件夹|所有文件)"
        r")(?:一下|一遍)?$"
    ),
}
"""And then the request to all of them together; it ends the message."""

_FORBIDDEN: Final = re.compile(r"\b(?:don't|do not|never|without)\b|不要|别|不用|无需", re.IGNORECASE)


def of_each(text: str) -> str | None:
    """Return the part of a request that is about each file, if another part is about all of them; else None."""
    said = text.strip()
    if len(said) > READ_CHARACTERS or _FORBIDDEN.search(said.replace("’", "'")):
        return None
    for language in EACH:
        each = EACH[language].match(said)
        whole = WHOLE[language].search(said, each.end()) if each else None
        if whole:
            return said[: whole.start()].rstrip(" ,，;；。.")
    return None
