"""The likeliest specialist, by a cheap score: where neither a pattern nor the conversation decides, it answers at once.

Asking the agents' own model for a route took as long as an answer: with one of 300 ms, five chats at once waited 0.93 s
for the first token (p95) instead of 0.45 s (`python -m benchmarks.agent.crowd --only unknown --chats 5`). The score may
be wrong: a specialist hands over requests that are not its own (`handover.py`). `python -m benchmarks.agent.routing`
prints how often it is right.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Final

from graph.routing.intent_table import VERBS
from graph.routing.intents import READ_CHARACTERS, Intent
from graph.routing.wording import prepare
from graph.state import AGENTS, AgentName

FIELDS: Final[Mapping[AgentName, re.Pattern[str]]] = {
    "drive_agent": re.compile(
        r"\b(?:folders?|director(?:y|ies)|trash(?:ed)?|shar(?:ed?|es|ing)|unshare|access|permissions?|links?|owner"
        r"|invit(?:e|es|ed|ing)|mov(?:ed?|ing)|renam\w+|delet\w+|restor\w+|recover|undo|redo|cop(?:y|ies)|duplicat\w+"
        r"|organi[sz]\w+|tidy|clean up|uploads?|downloads?|space|storage|drive|password|your?|weather|news|web|thanks?"
        r"|help|leave|keep|group|sort|arrange|print|(?:file ?|^)names?|names? of (?:all|every|each))\b"
        r"|文件夹|目录|回收站|共享|分享|权限|链接|邀请(?!函)|移到|移动|挪到?|重命名|改名|删|恢复|撤销|还原|复制|备份|整理|归类"
        r"|空间|容量|上传|下载|云盘|密码|网上|文件名|的名[字称]前|打印|发.{0,2}邮件|[你您谢]"
    ),
    "document_agent": re.compile(
        r"\b(?:paragraphs?|sections?|sentences?|headings?|wording|typos?|grammar|tone|intro(?:duction)?|conclusion"
        r"|rewrite|rephrase|reword|shorten|longer|shorter|polish|proofread|translate|bullets?|table|text|append|bold"
        r"|fix|insert|replace)\b"
        r"|段落?|章节|句子?|标题|措辞|语气|语法|错别字|改写|润色|缩短|翻译|开头|结尾|末尾|底部|列表|表格|正文|加一[条句段行]|写上|[改换]成|改为"
    ),
    "search_agent": re.compile(
        r"\b(?:check|find|search|look(?:ing)? (?:up|for)|where|which|when|how (?:long|much|many|old)|who|what|why"
        r"|mentions?|about|according|summar\w+|overview|compare|tl;?dr|says?|said|similar|related|due|expires?"
        r"|the (?:lease|rent|contracts?|report|invoices?|notes?|policy|budget)|total|average|amount|costs?|price"
        r"|phone|address)\b"
        r"|^(?:is|are|was|were|do|does|did|has|have|had|am) (?:my|the|our|i|we|he|she)\b| (?:numbers?|codes?)\b"
        r"|找(?!.?回)|[搜查哪谁]|什么|怎么[^样弄办]|几[个天点号岁次]|多[长高重远]|(?P<open>[高大多要够])不(?P=open)|吗$|[单证订]号"
        r"|电话|地址|总额|平均|一共|加起来|多少|多久|何时|怎么说|提到|关于|总结|概述|比较|对比|类似|相关|合同|租约|发票|报告|规定|笔记"
    ),
}
"""Words of each specialist's field, as far as messages were seen that no pattern routes."""
TOPIC: Final = re.compile(
    rf"(?!(?:{'|'.join(sorted(VERBS))})\b)(?!.*\b(?:i|you|we|it|this|that|things?|yes|no|ok|okay|h+m+|u[mh]+|well|lol"
    r"|wow|cool|great|nice|good|bad|sure|help|please|again|later|bye|not|is|are|any|go|do|make|get|ls|pull)\b)"
    r"[a-z0-9'&.-]+(?: [a-z0-9'&.-]+){0,4}"
    r"|(?!我(?!们?的)|.*[你您他她它这那吧呀啊哦嗯呃唔好行对错了是不把将给请帮再还])"
    r"(?:我们?的)?[\w ]*[\u3400-\u9fff][\w ]{1,8}"
)
"""Only a name of something: it is to be found."""
MAX_WORDS: Final = 2
SURE, UNSURE, PLACE, LAST, GOES_ON, DEFAULT = 1.5, 0.75, 1.0, 0.25, 1.5, 0.25
"""Weights, where one word is 1. The Drive agent takes small talk, and messages that say nothing at all."""


@dataclass(frozen=True, slots=True)
class Likeliest:
    """A specialist, and the score as a share of all: 0.33 says nothing, 1 is sure."""

    agent: AgentName
    confidence: float


def likeliest(
    text: str, intent: Intent, *, in_document: bool, last: AgentName | None = None, goes_on: bool = False
) -> Likeliest:
    """Return the agent likely to have the tools, by words, place, and the turn before, which may go on."""
    text = text[:READ_CHARACTERS]
    scores = dict.fromkeys(AGENTS, 0.0)
    said = prepare(text)
    for agent, field in FIELDS.items():
        scores[agent] += min(MAX_WORDS, len({found.group() for found in field.finditer(said)}))
    for ask in intent.asks[:MAX_WORDS]:
        scores[ask.agent] += 0.0 if ask.group == "other" else SURE if ask.sure else UNSURE
    if not any(scores.values()) and TOPIC.fullmatch(said.strip(" .!?。！？")):
        scores["search_agent"] += UNSURE
    scores["drive_agent"] += DEFAULT
    if in_document:
        scores["document_agent"] += PLACE
    if last and (in_document or last != "document_agent"):
        scores[last] += GOES_ON if goes_on else LAST
    agent = max(AGENTS, key=scores.__getitem__)
    return Likeliest(agent, exp(scores[agent]) / sum(map(exp, scores.values())))
