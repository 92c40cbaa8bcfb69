"""The sentences of an answer that state something, and the words by which they speak of files or of changes. Pure."""

import re
from collections.abc import Iterator
from typing import Final

_DOCUMENT: Final = (
    r"(?:files?|documents?|docs?|folders?|drive|attachments?|pdfs?|spreadsheets?|workbooks?|handbooks?|contracts?|leases?"
    r"|agreements?|reports?|invoices?|receipts?|notes?|minutes|letters?|e-?mails?|mails?|polic(?:y|ies)|budgets?|manuals?"
    r"|presentations?|slides|tables?|resumes?|cvs?|essays?|statements?|photos?|pictures?|scans?|papers?)"
)
_DOCUMENT_ZH: Final = (
    r"(?:文件|文档|文件夹|云盘|网盘|附件|表格|合同|协议|手册|报告|发票|收据|笔记|纪要|信件|邮件|预算|制度|简历|论文"
    r"|幻灯片|照片|图片|账单|清单)"
)
_NAMED: Final = (
    r"(?<![\w@/])(?:/[\w\u3400-\u9fff][^\s,;:!?，。；：！？]*|[\w\u3400-\u9fff-]+)"
    r"\.(?:md|txt|csv|tsv|pdf|docx?|xlsx?|pptx?|odt|ods|odp|eml|html?|json|jpe?g|png|rtf)(?![a-z])"
)
_DEFINITE: Final = (
    r"\b(?:the|this|that|these|those) (?:files?|documents?|docs?|attachments?|spreadsheets?|workbooks?|handbooks?"
    r"|contracts?|leases?|agreements?|reports?|invoices?|receipts?|meeting minutes|budgets?|manuals?|presentations?)\b"
    r"(?!['’]| (?:system|format|extension|type|size|theory|law)s?\b)"
)
"""A document that both know, with no word between: many titles of works end in such a noun."""
NAME: Final = re.compile(_NAMED, re.IGNORECASE)
"""A file by its name or path."""
OF_OWN_FILES: Final = re.compile(
    rf"{_NAMED}|\byour (?:[\w-]+ ){{0,2}}?{_DOCUMENT}\b"
    r"|\bI(?:'ve| have)? (?:just |also |already )?"
    r"(?:found|searched|looked|checked|read|reviewed|went through|gone through)\b"
    rf"|(?:你|您)的(?:[\u3400-\u9fff]{{0,6}}?){_DOCUMENT_ZH}"
    r"|我(?:已经?|刚才?)?(?:找到|搜索|查找|查看|查阅|读取|检查)了?",
    re.IGNORECASE,
)
"""Speaks of the person's own files, or says that they were looked at."""
OF_FILES: Final = re.compile(
    rf"{OF_OWN_FILES.pattern}|\baccording to (?:the|this|your|our) (?:[\w-]+ ){{0,2}}?{_DOCUMENT}\b"
    r"|\b(?:in|from|to|by|of) (?:the|this|that|these|those) (?:file|document|folder|attachment|drive)s?\b"
    r"|\b(?:the|this|that|these|those) (?:file|document|folder|attachment)s?\b"
    r"(?! (?:system|format|extension|type|size))"
    r"|(?:文件|文档|文件夹|附件|云盘)(?:里|中|内|显示|写|说|提到|规定|包含|有)|(?:这|该|此)(?:个|份|篇)?(?:文件|文档)"
    rf"|(?:根据|按照|依据|按)[^，。,]{{0,12}}{_DOCUMENT_ZH}",
    re.IGNORECASE,
)
"""Speaks of files, which may be those of the person."""
ASKS_FILES: Final = re.compile(
    rf"{_NAMED}|\b(?:my|our) (?:[\w-]+ ){{0,2}}?{_DOCUMENT}\b"
    r"|\b(?:in|from|of|on) (?:the|this|that|these|those) (?:file|document|folder|attachment|drive)s?\b"
    r"|\b(?:the|this|that|these|those) (?:file|document|folder|attachment)s?\b"
    r"(?! (?:system|format|extension|type|size))"
    rf"|(?:我|我们|咱们)的?(?:[\u3400-\u9fff]{{0,6}}?){_DOCUMENT_ZH}"
    r"|(?:文件|文档|文件夹|附件|云盘)(?:里|中|内)|(?:这|该|此)(?:个|份|篇)?(?:文件|文档)"
    rf"|{_DOCUMENT_ZH}(?:里|中|上|内)(?:面)?[^，。？]{{0,12}}?(?:写|说|提|规定|要求|有|是|的)|{_DEFINITE}",
    re.IGNORECASE,
)
"""Asks about the person's files, by their kind, their name, or where they are."""
COMPOSES: Final = re.compile(
    r"\b(?:write|draft|compose|translat\w*|rewrite|rephrase|proofread|polish|correct|brainstorm|suggest|invent|make up"
    r"|imagine|poem|story|joke|remember)\b"
    r"|\b(?:put|say|turn) .{1,200}\b(?:in|into) (?:english|chinese|french|german|spanish|italian|japanese|russian)\b"
    r"|写(?!着|了|的|道)|起草|撰写|翻译|[翻译][成为]|用[英中法德日]文|润色|改写|校对|编(?:一)?个|建议|记住",
    re.IGNORECASE,
)
"""Asks for a text that is made, not found."""
GENERAL: Final = re.compile(
    r"\b(?:what (?:is|are|'s) an? |mean(?:s|ing)?\b|defin|explain|how (?:do|can|could|should|would) (?:i|we|you|one)\b"
    r"|how to\b|in general|usually|typically|generally|average|by law|legally|(?:should|does|must|can) an?\b"
    r"|what an? [\w -]{1,40} (?:is|are|does)\b)"
    r"|什么是|是什么意思|解释|怎么|如何|怎样|通常|一般|平均",
    re.IGNORECASE,
)
"""Asks for general knowledge, by a definition or a way to do something."""
OF_ASSISTANT: Final = re.compile(
    r"\b(?:who|what) (?:are|can|could|do) you(?: do| help\w*| know)?\b(?! (?:see|find|think))"
    r"|\bwhich (?:[\w-]+ ){1,3}(?:can|do) you\b|\bare you (?:an?|able|human|real|safe)\b"
    r"|\b(?:safe|private) with you\b|\bdo you (?:keep|store|remember|save|learn|work|send|train|use)\b"
    r"|你(?:是谁|是什么|能做|会做|能干|会不会|会(?:保存|记住|泄露)|可以做|有(?:什么|哪些)(?:功能|本事))|你能帮我?(?:做|干)?(?:些|点)?什么",
    re.IGNORECASE,
)
"""Asks about the assistant: its abilities, and the use of things that it is told."""
PERSONAL: Final = re.compile(
    r"\b(?:do|did|have|am|was) (?:I|we) (?!need|want|have to\b)\w+"
    r"|我们?(?:还|一共|每[年月天周])?(?:有|付|交|拿|欠|剩|得)(?:了|到)?(?:多|几|什么|哪)",
    re.IGNORECASE,
)
"""Asks for facts of the person alone, which no general knowledge has."""
TOLD: Final = re.compile(
    r"(?:I(?:'ve| have| am|'m)?|we(?:'ve| have)?)"
    r" (?!want|need|would|wish|like to|am looking|wonder|can't find)[^?？]*\Z"
    r"|我们?(?:已经?|刚刚?|都|把)[^?？吗呢]*[了过][。！]?\Z",
    re.IGNORECASE,
)
"""Tells something, and asks for nothing."""
ASKS_CHANGE: Final = re.compile(
    r"(?:please |now |can you |could you |would you )*(?:create|make|move|rename|delete|remove|trash|share|copy|put|add"
    r"|update|change|edit|replace|restore|append)\b|(?:请|帮我|麻烦)*(?:把|将|新建|创建|建|删除|重命名|移动|共享|分享|复制|恢复)",
    re.IGNORECASE,
)
"""Begins a request for a change."""
_OPEN: Final = re.compile(
    r"\b(?:I|we)(?:'m| am)? (?:can|could|will|would|may|might|do not|don't|cannot|can't|couldn't|won't|need|able|unable"
    r"|going|not able|did not|didn't|have not|haven't|was not|wasn't)\b"
    r"|\b(?:I'll|I'd|let me|let's|would you|do you|shall I|could you"
    r"|please (?:tell|let|provide|specify|give|confirm|attach|open|upload|share|send|ask|say|check)"
    r"|feel free"
    r"|sorry|happy to|glad to|make sure|(?:that|this) would)\b"
    r"|\AI (?:find|search|answer|organi[sz]e|sort|help|work|look|make|move|share)\b(?! that\b)"
    r"|\b(?:usually|typically|generally|in general|often|commonly|for example|e\.g\.)\b"
    r"|我(?:可以|能|会|将|来|无法|不能|不会|没有办法|没能|需要)|(?:请|麻烦)(?:你|您)?(?:告诉|提供|说明|确认|上传|打开|问)"
    r"|需要我|要我|抱歉|对不起|不好意思|通常|一般(?:来说|而言)|例如",
    re.IGNORECASE,
)
_OWN_NAME: Final = re.compile(r"(?:I am|I'm|My name is|我是|我叫) ?[\w.:/-]+[.。!！]?\Z", re.IGNORECASE)
_CONDITION: Final = re.compile(r"\bif you\b|\byou (?:can|could|may)\b|如果|(?:你|您)可以", re.IGNORECASE)
OF_NAMES: Final = re.compile(r"\b(?:called|named|here|this folder)\b|名为|名叫|叫做|这里|这个文件夹", re.IGNORECASE)
"""Speaks of the names in a folder, not of texts in files."""
ABSENT: Final = re.compile(
    r"\b(?:no|not|nothing|none|n't|couldn't)\b[^.]{0,40}\b(?:find|found|mention\w*|match\w*|contain\w*|search\w*|file|document)"
    r"|\bfound (?:nothing|no)\b|没有(?:找到|搜到|查到|发现|提到|提及)|找不到|未找到|搜不到|没找到",
    re.IGNORECASE,
)
"""Says that something is not in the files, which only those know who looked."""
CHANGED: Final = re.compile(
    r"\b(?:I(?:'ve| have)?|(?:has|have) been|was|were|is now|are now) (?:now |just |also |already |successfully )*"
    r"(?:created|made a|moved|renamed|deleted|trashed|removed|shared|copied|added|saved|updated|edited|changed|appended"
    r"|restored|replaced|written to)\b"
    r"|(?:已经?|成功|刚刚)(?:成功|为(?:你|您)|帮(?:你|您))?[^，。！？\n]{0,12}?"
    r"(?:创建|新建|建好|移动|移到|重命名|改名|删除|移到回收站|共享|分享|复制|添加|追加|修改|更新|恢复|替换)"
    r"|(?:创建|新建|移动|重命名|删除|共享|分享|复制|添加|修改|更新|恢复)(?:好了|完成|成功)",
    re.IGNORECASE,
)
"""Says that something was changed."""
IS_SO_NOW: Final = re.compile(
    r"\b(?:was|were|is|are|has been|have been) (?:now |successfully )?(?:created|made|moved|renamed|deleted|trashed"
    r"|removed|shared|copied|added|updated|edited|changed|restored|replaced|called|named)\b"
    r"|\b(?:is|are) (?:now )?in (?:the trash|/?[\w/ ]+ now)\b|\b(?:is|are) now (?:in|on|part of)\b"
    r"|现在(?:在|叫|位于|名为|可以)|已在|在回收站",
    re.IGNORECASE,
)
"""Says that something is otherwise now, which after a request for it says that it was done."""
UNCHANGED: Final = re.compile(
    r"\b(?:nothing|none|nobody|neither|no (?:\w+ ){1,3}?)\b[^.,;]{0,30}\b(?:was|were|is|are|has been|have been)\b"
    r"|\b(?:was|were|is|are|been|have|has) (?:\w+ )?(?:not|never)\b|n't\b|[没未]|并不",
    re.IGNORECASE,
)
"""Says that something was not done."""
DENIES: Final = re.compile(
    r"\b(?:not|n't|nowhere|never) (?:\w+ )?(?:mention|contain|cover|include|address|discuss|specify|allow|require)"
    r"|\b(?:mentions?|contains?|says?) (?:no|nothing)\b"
    r"|没有?(?:提到|提及|写|包含|规定|涉及|说)|未(?:提到|提及|规定|涉及)",
    re.IGNORECASE,
)
"""Denies that a text says something."""
LOOKED_FOR: Final = re.compile(r"\b(?:find|found)\b|找到|搜|查到", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?:[^.!?。！？；\n]|[.!?](?=[^\s\"”'’)\]]))+[.!?。！？；]*")
_FIGURE: Final = re.compile(r"\d")


def claims_in(answer: str) -> Iterator[str]:
    """Yield the sentences that state something: no questions, offers, refusals, or words about the usual case."""
    for found in _SENTENCE.finditer(answer):
        sentence = found[0].strip()
        if sentence and not _is_open(sentence):
            yield sentence


def _is_open(sentence: str) -> bool:
    """Say whether a sentence states nothing."""
    if _OWN_NAME.match(sentence):
        return True
    if sentence.endswith(("?", "？", "吗", "吗。")) or (_OPEN.search(sentence) and not _tells(sentence)):
        return True
    return _CONDITION.search(sentence) is not None and not _FIGURE.search(sentence)


def _tells(sentence: str) -> bool:
    """Say whether a refusal tells of the files all the same: that they do not have something."""
    return ABSENT.search(sentence) is not None and LOOKED_FOR.search(sentence) is not None
