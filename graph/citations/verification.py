"""Checks the quotations of an answer over MCP against the versions that were read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from graph.citations.quotes import Quotation
from graph.citations.sources import Source
from graph.drive.connections import Toolbox
from graph.drive.tool_names import CHECK_CITATIONS
from graph.errors import DriveUnavailableError
from graph.events.answers import CitationView, WhyUnverified

AT_ONCE: Final = 200
MAX_CANDIDATES: Final = 30
MAX_QUOTE: Final = 20_000
SHOWN_CHARACTERS: Final = 2_000

Check = Mapping[str, Any]


async def check_quotations(
    quotations: Sequence[Quotation], sources: Sequence[Source], toolbox: Toolbox
) -> list[CitationView]:
    """Return a citation for each quotation; `sources` are the files read, the newest first.

    Each is checked in the file that the answer names, then in the others. If a viewer read a version that was
    replaced meanwhile, the newest one is checked: only editors see older ones.
    """
    asked = [_candidates(one, sources) if _can_be_checked(one) else [] for one in quotations]
    first = [candidates[:1] for candidates in asked]
    answers = await _ask(quotations, first, toolbox)
    rest = [[] if _match_of(found) else candidates[1:] for found, candidates in zip(answers, asked, strict=True)]
    more = await _ask(quotations, rest, toolbox)
    answers = [[*one, *other] for one, other in zip(answers, more, strict=True)]
    renewed = [[] if _match_of(found) else _renewed(found) for found in answers]
    newest = await _ask(quotations, renewed, toolbox)
    numbers = _numbers(quotations)
    return [
        _view(one, number, [*found, *last], candidates)
        for one, number, found, last, candidates in zip(quotations, numbers, answers, newest, asked, strict=True)
    ]


def _can_be_checked(one: Quotation) -> bool:
    return 0 < len(one.words) <= MAX_QUOTE


def _candidates(one: Quotation, sources: Sequence[Source]) -> list[Source]:
    """Return where the words may be from: first those that the answer names, the longest name before the others."""
    named = [source for source in sources if _fit(one, source)]
    named.sort(key=lambda source: -_fit(one, source))
    others = [source for source in sources if source not in named]
    return [*named, *others][:MAX_CANDIDATES]


def _fit(one: Quotation, source: Source) -> int:
    """Return how much of the source's path, else of its name, the answer has beside the quotation."""
    for label in (source["path"], source["name"]):
        if label and label in one.source:
            return len(label)
    return 0


async def _ask(
    quotations: Sequence[Quotation], candidates: Sequence[Sequence[Source]], toolbox: Toolbox
) -> list[list[Check]]:
    """Return the drive's checks of each quotation against each of its candidates."""
    asked = [(index, source) for index, some in enumerate(candidates) for source in some]
    found: list[list[Check]] = [[] for _ in quotations]
    for start in range(0, len(asked), AT_ONCE):
        batch = asked[start : start + AT_ONCE]
        answers = await ask_drive(toolbox, [_argument(quotations[index], source) for index, source in batch])
        for (index, _), answer in zip(batch, answers, strict=True):
            found[index].append(answer)
    return found


async def ask_drive(toolbox: Toolbox, citations: list[dict[str, Any]]) -> list[Check]:
    """Return the drive's check of each citation; the reason is `unavailable` where it can't be asked."""
    unavailable: list[Check] = [{"stands": False, "reason": "unavailable"} for _ in citations]
    if CHECK_CITATIONS not in toolbox.tools:
        return unavailable
    try:
        result = await toolbox.call(CHECK_CITATIONS, {"citations": citations}, meta={})
    except DriveUnavailableError:
        return unavailable
    data = result.structuredContent or {}
    answered: list[Check] = [] if result.isError else data.get("citations", [])
    return answered if len(answered) == len(citations) else unavailable


def _argument(one: Quotation, source: Source) -> dict[str, Any]:
    citation: dict[str, Any] = {"file_id": source["file_id"], "quote": one.words}
    return {**citation, "version": source["version"]} if source["version"] else citation


def _renewed(found: Iterable[Check]) -> list[Source]:
    return [
        {"file_id": answer["file_id"], "name": "", "path": "", "version": None, "read": True}
        for answer in found
        if answer["reason"] == "forbidden"
    ]


def _match_of(found: Iterable[Check]) -> Check | None:
    return next((answer for answer in found if answer["stands"]), None)


def _numbers(quotations: Sequence[Quotation]) -> list[int]:
    """Return the numbers; a quotation without one gets the next free number."""
    taken = {one.number for one in quotations}
    free = (number for number in range(1, 10_000) if number not in taken)
    return [next(free) if one.number is None else one.number for one in quotations]


def _view(one: Quotation, number: int, found: Sequence[Check], candidates: Sequence[Source]) -> CitationView:
    stands = _match_of(found)
    if stands:
        return _citation(one, number, stands)
    reason = _reason(one, found, candidates)
    # Of a file that the person can't see any more nothing is told.
    seen = next((answer for answer in found if answer["reason"] == "absent"), None)
    is_named = bool(candidates and _fit(one, candidates[0]))
    view = _citation(one, number, seen if seen and (is_named or len(candidates) == 1) else {})
    return {**view, "verified": False, "reason": reason}


def _citation(one: Quotation, number: int, answer: Check) -> CitationView:
    current = answer.get("current_version")
    return {
        "number": number,
        "quote": one.words[:SHOWN_CHARACTERS],
        "verified": True,
        "reason": "",
        "file_id": answer.get("file_id") or "",
        "name": answer.get("name") or "",
        "path": answer.get("path") or "",
        "version": answer.get("version"),
        "is_current": current is None or answer.get("version") == current,
        "place": answer.get("place") or "",
        "heading": answer.get("heading") or "",
        "uri": answer.get("uri") or "",
        "address": answer.get("address") or "",
    }


def _reason(one: Quotation, found: Sequence[Check], candidates: Sequence[Source]) -> WhyUnverified:
    if not one.words:
        return "no_words"
    if not found and candidates:
        return "unavailable"
    if not candidates:
        return "no_source" if _can_be_checked(one) else "too_long"
    reasons = {str(answer["reason"]) for answer in found}
    if "absent" in reasons:
        return "absent"
    if "unavailable" in reasons:
        return "unavailable"
    return "earlier_version" if "forbidden" in reasons else "not_found"
