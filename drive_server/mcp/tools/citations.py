"""The tool that checks quotations against the files they are said to be from."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import BaseModel

from drive_server.kernel.access import Scope
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer
from drive_server.mcp.tools.definition.arguments import CitationArguments
from drive_server.mcp.tools.definition.spec import READS, ToolGroup, ToolSpec
from drive_server.mcp.tools.definition.texts import counted, shown_path
from drive_server.models.contents import CheckedCitation, Citation
from drive_server.services.text.addresses import Passage
from drive_server.services.tree.names import display_name

MAX_LINES = 50


class CitationResult(BaseModel):
    """The result of one citation.

    `stands` says whether the quotation stands in that version. If not, `reason` is `absent`, or the code of an error:
    `not_found` for a file or version that the caller can't see, `forbidden` for an earlier version and a viewer.
    `start`, `end`, `place` and `heading` say where it stands; `uri` and `address` open the file there.
    """

    file_id: str
    quote: str
    stands: bool
    reason: str
    name: str | None
    path: str | None
    version: int | None
    current_version: int | None
    start: int | None
    end: int | None
    place: str
    heading: str
    at_place: bool | None
    uri: str
    address: str

    @classmethod
    def of(cls, checked: CheckedCitation, site: str) -> "CitationResult":
        """Return the citation as it is on the wire; `site` is the service's own address."""
        item, stands = checked.item, checked.stands
        passage = None
        if item and stands:
            passage = Passage(item.id, checked.version, checked.start, checked.end, checked.place)
        return cls(
            file_id=item.id if item else checked.citation.file,
            quote=checked.citation.quote,
            stands=stands,
            reason=checked.reason,
            name=item.name if item else None,
            path=item.path if item else None,
            version=checked.version if item else None,
            current_version=item.version if item else None,
            start=checked.start if stands else None,
            end=checked.end if stands else None,
            place=checked.place,
            heading=checked.heading,
            at_place=checked.at_place,
            uri=passage.uri if passage else "",
            address=passage.address(site) if passage else "",
        )


class CitationsResult(BaseModel):
    """The citations in the order they were given."""

    citations: list[CitationResult]


class CitationTools(ToolGroup):
    """Check quotations."""

    icon = icons.SEARCH
    label = "citations"

    @ToolSpec(Scope.READ, "query", "low", READS)
    async def check_citations(
        self, call: Call, citations: CitationArguments
    ) -> Annotated[CallToolResult, CitationsResult]:
        """Check whether quotations stand, word for word, in the files and versions that they are said to be from.

        Use when: an answer quotes files; pass the `version` of each that was read: a later edit then changes nothing.
        Not for: finding where something is said (semantic_search_files).
        Notes: blanks, line breaks, full-width forms and kinds of quotation marks may differ, words, digits and
        traditional and simplified characters may not. The answer has the place of each, and addresses that open it.
        """
        actor = await call.actor()
        asked = [Citation(one.file_id, one.quote, one.version, one.place) for one in citations]
        checked = await self._drive.citations.check(actor, asked)
        site = self._drive.address
        found = sum(one.stands for one in checked)
        text = f"{counted(found, 'quotation')} of {len(checked):,} found as quoted."
        result = CitationsResult(citations=[CitationResult.of(one, site) for one in checked])
        return answer(actor, text, result, "\n".join(_line(one) for one in checked[:MAX_LINES]))


def _line(checked: CheckedCitation) -> str:
    if checked.item is None:
        return f"- not checked: {checked.reason}"
    where = f"{shown_path(checked.item)}, version {checked.version}"
    if not checked.stands:
        return f"- not in {where}"
    place = f", {display_name(checked.place)}" if checked.place else ""
    passage = Passage(checked.item.id, checked.version, checked.start, checked.end, checked.place)
    return f"- in {where}{place}, characters {checked.start}-{checked.end}: {passage.uri}"
