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

from graph.offline import lexicon_en, lexicon_zh
from graph.offline.masking import EMAIL, EXTENSIONS, FILE, PATH, QUOTE
from graph.state import Language

NAMED: Final = f"(?:{QUOTE[:-1]}{FILE[1:-1]}{PATH[1:]})"
SLOT_FORMS: Final = {
    "any": ".+?",
    "greedy": r".+(?<!\bover)(?<!\bback)(?<!\ball)",
    "quote": QUOTE,
    "named": f"[^,;]*?(?:{QUOTE}|{FILE}|{PATH})",
    "email": EMAIL,
    "emails": f"{EMAIL}(?:(?:\\s|,|、|;|and|&|和|与|及|跟|as well as)*{EMAIL})*",
    "number": r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|fourth|fifth|"
    r"[一二两三四五六七八九十]",
    "ordinal": r"\d+|first|second|third|fourth|fifth|last|1st|2nd|3rd|[一二两三四五六七八九十]",
    "extension": rf"\.?(?:{EXTENSIONS})",
    "word": r"\w+",
    "someone": r"(?!(?:me|us|it|that|this|the|a|an|my)\b)\w+",
    "thislike": r"(?:this|that|the) (?:file|folder|document|doc|note|directory)|it|that|this",
    "little": ".{0,12}?",
    "folderlike": f"[^{FILE[1:-1]}]+?",
    "therelike": "(?:in |over |into |inside |to |down )?(?:there|here)",
    "insidelike": "(?:到|进|入|在)?.+?(?:里面|里|中|内|下面|下)",
    "summarylike": "它|这个|那个|总结|摘要",
    "previous": "previous|last|prior|earlier|preceding|original|first|上一个|前一个|之前|上个|以前|先前|上一|前一|"
    "原来|最初|旧",
    "roleword": "(?:an? |the )?(?:only |also )?(?:edit(?:or|ing|s)?|writ(?:e|er|ing)|chang(?:e|ing)|modify(?:ing)?|"
    "view(?:er|ing)?|read(?:er|ing)?|"
    "see|look at|open|access|collaborat(?:e|or|ing)|contribut(?:e|or)|work on|comment(?: on|er)?|update)|"
    "只?(?:编辑|修改|改|写|查看|看|读|只读|访问|阅读|协作)",
    "doclike": f".{{0,20}}?(?:{FILE}|{QUOTE}|文档|文件|文章|文中|文里|本文|正文|手册|合同|政策|制度|规定|指南|报告|"
    f"规范|协议|说明书|条例|章程)",
    "questionlike": ".*?(?:什么|几|多少|哪|谁|怎么|如何|为什么|是否|吗|多久|多长|何时).*",
}
_TOKEN = re.compile(
    r"\{(?P<macro>\w+)\}|<(?P<slot>\w+)(?::(?P<form>\w+))?>|(?P<open>\[)|(?P<close>\])|(?P<group>\()(?!\?)"
)


def compile_pattern(pattern: str, language: Language) -> re.Pattern[str]:
    """Translate one pattern. A word list or a slot form that does not exist raises `KeyError`."""
    source = pattern.replace(" ", "") if language == "zh" else pattern
    return re.compile(_TOKEN.sub(lambda token: _translate(token, macros(language)), source), re.IGNORECASE | re.DOTALL)


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
    for name, phrases in lexicon_en.VERBS.items():
        verbs[name] = _either([form for phrase in phrases for form in (phrase, _inflect(phrase, _gerund))])
        verbs[f"{name}_done"] = _either([_inflect(phrase, _participle) for phrase in phrases])
    pronouns = {name.replace(" ", "_"): pattern for name, pattern in lexicon_en.PRONOUNS.items()}
    return {**verbs, **pronouns, **ENGLISH_LISTS, "quoted": QUOTE, "mail": EMAIL, "named": NAMED}


def _chinese() -> dict[str, str]:
    once = "(?:一下子|一下|下|一遍|一番|一个|个)?"
    verbs = {name: f"(?:{_either(phrases)}){once}" for name, phrases in lexicon_zh.VERBS.items()}
    pronouns = {name.replace(" ", "_"): pattern for name, pattern in lexicon_zh.PRONOUNS.items()}
    return {**verbs, **pronouns, **CHINESE_LISTS, "quoted": QUOTE, "mail": EMAIL, "named": NAMED}


def _either(phrases: "list[str] | tuple[str, ...]") -> str:
    return "|".join(re.escape(phrase) for phrase in sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase)))


def _inflect(phrase: str, change: "type[str] | object") -> str:
    first, _, rest = phrase.partition(" ")
    changed = change(first) if callable(change) else first
    return f"{changed} {rest}" if rest else str(changed)


def _gerund(verb: str) -> str:
    if verb in lexicon_en.DOUBLING:
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"


def _participle(verb: str) -> str:
    if verb in lexicon_en.PARTICIPLES:
        return lexicon_en.PARTICIPLES[verb]
    if verb in lexicon_en.DOUBLING:
        return f"{verb}{verb[-1]}ed"
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"


ENGLISH_LISTS: Final = {
    "a": r"(?:(?:a|an|the|another|one|some|my|our|new|brand new|fresh|empty|blank|extra|separate)\s+)*",
    "the": r"(?:(?:the|my|our|a|an|any|all|all the|all my|all of the|all of my|some|every|each|this|that|these|those|"
    r"your)\s+)*",
    "folder": "folders?|director(?:y|ies)|subfolders?|dirs?",
    "doc": "documents?|files?|docs?|notes?|papers?|pages?|texts?|articles?|memos?|letters?|text files?|markdown files?|"
    "markdown documents?|text documents?|items?|spreadsheets?|pdfs?|things?",
    "called": "called|named|titled|entitled|with the name|with name|by the name of|by the name",
    "about": "about|on|regarding|concerning|covering|related to|relating to|dealing with|that deals? with|that "
    "mentions?|"
    "mentioning|that talks? about|that (?:is|are) about|on the topic of|on the subject of|with info on|discussing|"
    "with information (?:on|about)|which mentions?|that covers?|that (?:discuss|explains?)(?:es)?|that contains?|"
    "containing",
    "in": "in|inside|within|under|into|beneath|underneath|inside of",
    "into": "to|into|onto|over to|over into|in to|across to|down to|up to|inside|under",
    "end": r"(?:at|to|on) (?:the )?(?:very )?(?:end|bottom|back|tail)(?: of .+)?|below|afterwards",
    "start": r"(?:at|to|on|in) (?:the )?(?:very )?(?:start|beginning|top|front|head|first line)(?: of .+)?",
    "arithmetic": r"(?:what's |what is |how much is )?\d[\d. ]*(?:(?:plus|minus|times|divided by|[-+*/x^])[\d. ]+)+",
    "everyone": "anyone|anybody|everyone|everybody|someone|somebody|people|others|other people",
    "gist": "gist|summary|overview|recap|digest|outline|synopsis|abstract|essence|short version|quick summary|short "
    "summary|"
    "brief summary|short overview|brief overview|quick overview|tl;?dr|key points|main points|main ideas|key takeaways|"
    "main takeaways|takeaways|highlights|big picture|bullet points|core message|main message|executive summary|rundown|"
    "quick rundown|key facts|lowdown",
    "access": "access|rights?|permissions?|privileges?",
    "edit": "edit(?:ing|or)?|writ(?:e|ing)|chang(?:e|ing)|modify(?:ing)?|modif(?:y|ication)|collaborat(?:e|ing|ion)|"
    "work(?:ing)? on|contribut(?:e|ing)(?: to)?|full|update|updating|comment on",
    "view": "view(?:ing|er)?|read(?:ing|-only| only)?|see(?:ing)?|look(?:ing)? at|open(?:ing)?|access(?:ing)?|viewing",
    "saying": "(?:and )?(?:with|which has|that has|having) (?:the |this |some |as )?(?:following )?(?:content|"
    "contents|text|body|words?|line|sentence)s?"
    "|containing|that contains|that says|which says|saying|that reads|reading|and (?:write|put|type|add)(?: in it| "
    "into it|)?|"
    "with nothing but|whose (?:content|text) is|with|content is|contents?",
    "version": "versions?|revisions?|revs?|v",
}
CHINESE_LISTS: Final = {
    "ba": "把|将|给我把|帮我把",
    "arithmetic": r"\d[\d.]*(?:(?:加|减|乘以?|除以|[-+*/x×÷^])[\d.]+)+(?:等于(?:多少|几)|是多少|=)?",
    "saying": "(?:并)?(?:里面|其中|在里面)?(?:的)?(?:内容|正文|文字|里面)?(?:是|为|写着|写上|写|填上|放|写入|包含|"
    "填)|(?:内容|正文|文字)",
    "one": "(?:一|1)?(?:个|份|篇|条|段|句|行|张|首|封)?(?:新的?|空的?|空白的?)?",
    "folder": "文件夹|目录|子文件夹|资料夹",
    "doc": "文件|文档|笔记|文本文件|文本|资料|文章|便签|备忘录|记录|表格|材料|文稿",
    "called": "名为|名叫|叫做|叫作|叫|名字叫做|名字叫|名字是|名字为|名称为|名称是|命名为|取名为|取名|起名叫|起名为|"
    "起名|题为|标题为",
    "inside": "里面|里头|里边|之中|当中|底下|下面|里|中|内|下|上",
    "all": "所有|全部|一切|每个|每一个|任何|全体|全",
    "stuff": "内容|文件|东西|文档|资料|条目|所有|全部|一切|玩意儿|材料",
    "about": "关于|有关|涉及|提到|提及|介绍|讲到|讲述|讲|谈到|说到|包含|含有|写到",
    "to": "到|至|进|入|去|往|进去|在|给|去到",
    "say": "讲了|说了|写了|讲的是|说的是|写的是|讲|说|写|提到了|介绍了|是讲|是说",
    "what": "什么内容|些什么|了些什么|什么|啥|哪些内容|哪些|甚么|的什么|点什么|点啥|些啥",
    "access": "权限|权利|访问权|访问",
    "edit": "编辑|修改|改动|改|写入|协作|写",
    "view": "查看|看到|看|阅读|访问|浏览|读取|读|打开|只读",
    "end": "(?:的)?(?:最后面|最后一行|最后|末尾|结尾|文末|末端|尾部|底部|后面|最下面)",
    "start": "(?:的)?(?:最前面|开头|开始|文首|顶部|前面|最上面|第一行|首行|开篇|文头)",
    "entirely": "(?:全部|全都|统统|都|全|通通|一律|每一处|每处|所有的?)?",
    "role": "[,，]?(?:作为|为|设为|给予|给|权限是|权限为|角色是|角色为|以|并给|允许|可以|并可|并允许)?(?:他|她|他们|"
    "其|对方)?(?:可以|能够|能|可)?",
}
