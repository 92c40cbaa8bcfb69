"""Detect follow-ups: messages that go on from the turn before and stay with its specialist.

It reads so when it is an answer or a fragment, refers to things that only the conversation identifies, or begins as a
continuation; and it does not as soon as it names another subject or something that this specialist has no part in.
"""

import re
from typing import Final

from graph.routing.cues import REFERS
from graph.routing.intent_table import VERBS, Group
from graph.routing.intents import READ_CHARACTERS, Intent, row_of
from graph.routing.wording import FILE, MAIL, QUOTE, bare, clauses, is_negated, prepare
from graph.state import AgentName

SHORT_WORDS: Final = 4
SHORT_HAN: Final = 8
LONG: Final = 120
"""Characters; a longer message stands on its own unless it begins as a continuation."""

_BEGINS: Final = re.compile(
    r"(?:(?:and|also|then|now|ok|okay|yes|yep|yeah|no|nope|again|same|another|more|continue|go on|go ahead|but"
    r"|or|so|sure|as well"
    r"|what about|how about|why(?: not)?|really|do it|do that|try again|one more|the (?:other|first|second"
    r"|third|last|next|same|one))\b"
    r"|继续|再|那|还|好|是的|对|不是|不对|不用|不要|同样|另(?:一|外那|外一)|为什么|然后|接着|其[他它余]"
    r"|第.{1,2}个|换成|改成|改为|就这|行|可以|嗯)"
)
_POINTS: Final = re.compile(
    r"\b(?:it|its|that|this|them|those|these|they|he|she|one|ones|there|shorter|longer|simpler|clearer|instead)\b"
    r"|[它他她]|这个|那个|那些|这些|这里|那里|上面|前面|刚才|[短长少多细详简正][一点些]|一点$|一些$|[呢么]$"
)
_FRESH: Final = re.compile(
    r"\b(?:by the way|btw|another (?:question|thing|topic)|something else|different (?:question|topic|subject)"
    r"|new (?:question|topic|task)|unrelated"
    r"|change of (?:topic|subject)|next (?:topic|task))\b|换个(?:话题|问题)|另一个问题|另外(?:问|想问|一件事)"
    r"|对了|顺便问|还有(?:个|一个)问题|新(?:问题|任务)"
)
_QUESTION: Final = re.compile(
    r"(?:what|who|whom|whose|which|where|when|how|is|are|was|were|do|does|did|can|could|should|will|would|has"
    r"|have)\b|.*(?:谁|什么|多少|哪|怎么|如何|几[个点时天]|多久|吗$)"
)
_OWN_GROUPS: Final[dict[AgentName, frozenset[Group]]] = {
    "drive_agent": frozenset({"organise", "inspect", "talk"}),
    "document_agent": frozenset({"edit", "look"}),
    "search_agent": frozenset({"edit", "look"}),
}
"""The actions that each specialist continues. Whoever gave an answer also rephrases or translates it."""


def is_follow_up(text: str) -> bool:
    """Say whether the message reads as the continuation of the last subject."""
    if len(text) > READ_CHARACTERS:
        return False
    said = prepare(text).strip(" .!?。！？~,，…")
    if not said or _FRESH.search(said):
        return False
    if _BEGINS.match(said):
        return not _asks_anew(said) or len(said) <= LONG
    if len(said) > LONG or _asks_anew(said):
        return False
    return REFERS.search(said) is not None or _POINTS.search(said) is not None or _is_fragment(said)


def continues_with(agent: AgentName, intent: Intent) -> bool:
    """Say whether the request, as far as words show one, is one for this specialist."""
    return {ask.group for ask in intent.asks} <= _OWN_GROUPS[agent]


def may_need_plan(text: str) -> bool:
    """Say whether a message may ask for several things, one of them a change, also where their items are not clear."""
    if len(text) > READ_CHARACTERS:
        return True
    asked = [group for clause in clauses(prepare(text), VERBS) if (group := _group_of(clause))]
    return len(asked) > 1 and bool({*asked} & {"organise", "edit", "other"}) and {*asked} != {"edit"}


def _group_of(clause: str) -> Group | None:
    """Return the group of a clause's request, `other` if only its verb is known, None if it asks for nothing."""
    said = bare(clause)
    if not said or is_negated(clause):
        return None
    row = row_of(said)
    return row.group if row else "other" if said.split(" ", 1)[0] in VERBS else None


def _asks_anew(said: str) -> bool:
    return _QUESTION.match(said) is not None and not _POINTS.search(said) and not REFERS.search(said)


def _is_fragment(said: str) -> bool:
    """A name, an address, a number: too little to be a request of its own."""
    if said in (FILE, MAIL, QUOTE):
        return True
    return len(said.split()) <= SHORT_WORDS if said.isascii() else len(said) <= SHORT_HAN
