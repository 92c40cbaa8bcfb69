"""Whether a clause asks for something to be done: "don't delete it", "who deleted it?" and "I deleted it" do not."""

import re
from typing import Final, Literal

from graph.state import Language

Mood = Literal["wish", "negated", "question", "statement"]

_NEGATED: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:please |just |so |but |and |kindly )*(?:don't|do not|dont|never|no need to|you (?:must|should|may|"
        r"can) ?(?:not|n't)|you (?:mustn't|shouldn't|can't)|avoid|refrain from|i (?:don't|do not|never) want "
        r"(?:you|it|that|this|anyone|anybody) to)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:请|但|但是|可是|千万|先|暂时|麻烦|你|我|绝对|一定|目前|,)*(?:不要|不用|不必|不准|不许|不想|不希望|别|"
        r"勿|甭)"
    ),
}
_QUESTION: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:and |but |so |then |also )*(?:what(?! about)|why(?! (?:don't|not))|how(?! about)|when|where|who|whom|"
        r"whose|which|did|do|does|was|were|is|are|has|have (?:you|i|we|they)|had|should (?:i|we)|shall i|would it|"
        r"am i|if|whether|suppose|supposing|assuming|can (?:he|she|they|it|bob|others)|could (?:he|she|they|it))\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:那|那么|请问|,)*(?:为什么|为何|怎么|怎样|如何|谁|如果|假如|要是|假设|万一|什么时候|何时|哪|你?有没有|"
        r"你?是不是|我?该不该|我?要不要|会不会|是否|你?是怎么)|.*(?:会怎么样|会怎样|怎么样|会如何|怎么办|"
        r"是什么意思|什么意思)[?？呢啊]*$|.*(?:是|在)(?:什么时候|何时|谁|哪天|怎么)(?:把|被)?|(?!.*(?:能|可以|可否|"
        r"麻烦|请|帮)).*吗[?？]*$",
        re.DOTALL,
    ),
}
_PAST: Final = (
    "deleted|removed|moved|shared|renamed|trashed|created|restored|replaced|changed|unshared|edited|emptied|threw|put"
)
_STATEMENT: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        rf"(?:yesterday |today |just now |earlier |last \w+ )*(?:i|we|he|she|they|you|my \w+|our \w+|the \w+|"
        rf"somebody|someone|\w+)(?:'ve|'s| have| has| had| just| already| never| also)* (?:{_PAST})\b(?!.*\b(?:by "
        rf"mistake|by accident|accidentally)\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:昨天|今天|刚才|上周|前天)?(?:我|你|他|她|我们|他们|同事|老板|经理|有人|客户|小.|老.)(?:昨天|前天|刚才|"
        r"已经|刚刚|今天|之前|上周|早就|都)*(?:把|将)?.{0,30}?(?:删除|删掉|删|移动|移|改名|改|共享|分享|重命名|"
        r"恢复|新建|撤销)(?:了|过|到了|给了)"
    ),
}
_PASSIVE = re.compile(r".*被.{0,10}(?:删|移|改|共享|分享|重命名|恢复)")


def mood_of(clause: str, asked: str, language: Language) -> Mood:
    """Return the mood of a clause, said whole and with polite words taken off."""
    if _NEGATED[language].match(asked) or _NEGATED[language].match(clause):
        return "negated"
    if _QUESTION[language].match(asked) or (language == "zh" and _QUESTION[language].match(clause.strip(" ,。.!"))):
        return "question"
    if _STATEMENT[language].match(asked) or (language == "zh" and _PASSIVE.match(asked)):
        return "statement"
    return "wish"
