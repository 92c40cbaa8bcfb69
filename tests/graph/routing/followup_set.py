"""Sixty second turns: who took the turn before, what is said now and where, and who goes on without a model's help.

`expected` is None where the subject changed, or where it is another specialist's: then a model decides.
"""

from dataclasses import dataclass
from typing import Final

from graph.state import AgentName
from tests.graph.routing.routing_cases import DOCUMENT, DRIVE, SEARCH


@dataclass(frozen=True, slots=True)
class FollowUp:
    """One second turn."""

    last: AgentName
    text: str
    expected: AgentName | None
    in_document: bool = False


GOES_ON: Final = (
    FollowUp(SEARCH, "and translate it", SEARCH),
    FollowUp(SEARCH, "and the second one?", SEARCH),
    FollowUp(SEARCH, "what about last year", SEARCH),
    FollowUp(SEARCH, "shorter please", SEARCH),
    FollowUp(SEARCH, "the other one", SEARCH),
    FollowUp(SEARCH, "why?", SEARCH),
    FollowUp(SEARCH, "more", SEARCH),
    FollowUp(SEARCH, "what does it say about pets?", SEARCH),
    FollowUp(SEARCH, "now summarise it", SEARCH),
    FollowUp(SEARCH, "who wrote that?", SEARCH),
    FollowUp(SEARCH, "再短一点", SEARCH),
    FollowUp(SEARCH, "第二个呢", SEARCH),
    FollowUp(SEARCH, "那就改成表格", SEARCH),
    FollowUp(SEARCH, "还有吗", SEARCH),
    FollowUp(SEARCH, "翻译成英文", SEARCH),
    FollowUp(SEARCH, "它是什么时候签的", SEARCH),
    FollowUp(DOCUMENT, "yes", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "a bit more formal", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "and make it shorter", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "same for the others please", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "no, the first one", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "那就改成表格", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "再正式一点", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "好的", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "不是这个，是另外那个", DOCUMENT, in_document=True),
    FollowUp(DOCUMENT, "下一段也一样", DOCUMENT, in_document=True),
    FollowUp(DRIVE, "no, the other folder", DRIVE),
    FollowUp(DRIVE, "Archive", DRIVE),
    FollowUp(DRIVE, "bob@example.com", DRIVE),
    FollowUp(DRIVE, "“Reports 2024”", DRIVE),
    FollowUp(DRIVE, "as editor", DRIVE),
    FollowUp(DRIVE, "same for plan.md", DRIVE),
    FollowUp(DRIVE, "go ahead", DRIVE),
    FollowUp(DRIVE, "restore it", DRIVE),
    FollowUp(DRIVE, "归档文件夹", DRIVE),
    FollowUp(DRIVE, "其他的也一样处理", DRIVE),
    FollowUp(DRIVE, "就这样", DRIVE),
    FollowUp(DRIVE, "第一个", DRIVE),
    FollowUp(DRIVE, "嗯，继续", DRIVE),
    FollowUp(DRIVE, "為什麼", DRIVE),
)
LETS_GO: Final = (
    FollowUp(SEARCH, "what's the weather tomorrow", None),
    FollowUp(SEARCH, "by the way, how are you?", None),
    FollowUp(SEARCH, "email it to Anna", None),
    FollowUp(SEARCH, "restore it", None),
    FollowUp(SEARCH, "how many days of leave do new colleagues get", None),
    FollowUp(SEARCH, "车子的保修什么时候到期", None),
    FollowUp(SEARCH, "换个话题，我的日程呢", None),
    FollowUp(SEARCH, "对了，分享链接怎么用", None),
    FollowUp(DOCUMENT, "and then?", None),
    FollowUp(DOCUMENT, "再短一点", None),
    FollowUp(DOCUMENT, "who is allowed to approve travel", None, in_document=True),
    FollowUp(DOCUMENT, "another question: when is the next holiday", None, in_document=True),
    FollowUp(DOCUMENT, "今天天气怎么样", None, in_document=True),
    FollowUp(DRIVE, "and translate it", None),
    FollowUp(DRIVE, "summarise it", None),
    FollowUp(DRIVE, "what did the board decide in March", None),
    FollowUp(DRIVE, "那就改成表格", None),
    FollowUp(DRIVE, "出差住宿标准是多少", None),
    FollowUp(DRIVE, "My colleague would like to know how the budget of next year came about", None),
    FollowUp(DRIVE, "send it to the printer", None),
)
FOLLOW_UPS: Final = GOES_ON + LETS_GO
