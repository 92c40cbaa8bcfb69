"""Word documents of Markdown (CommonMark with tables), by python-docx. Pictures stay words."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from docx import Document
from docx.enum.text import WD_BREAK
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from drive_server.knowledge.writers.package import as_xml_text, without_times

DEEPEST_LIST: Final = 3
_LINK: Final = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE)
_LINE: Final = "\u2500" * 30


@dataclass(frozen=True, slots=True)
class _Style:
    """The look of a run of text."""

    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of blocks: in a list of this depth, of this style, with this numbering; or in a block quote."""

    depth: int = 0
    style: str | None = None
    numbering: int | None = None


def word_document(text: str) -> bytes:
    """Return the document. Blocks."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    document = Document()
    for name in ("author", "comments"):  # the template's own
        setattr(document.core_properties, name, "")
    _Writer(document).blocks(SyntaxTreeNode(parser.parse(as_xml_text(text))).children, _Place())
    out = io.BytesIO()
    document.save(out)
    return without_times(out.getvalue())


class _Writer:
    """Writes the blocks of a Markdown tree into a document."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def blocks(self, nodes: Sequence[SyntaxTreeNode], place: _Place) -> None:
        for node in nodes:
            self._block(node, place)

    def _block(self, node: SyntaxTreeNode, place: _Place) -> None:
        kind = node.type
        if kind == "heading":
            self._inline(self._document.add_heading(level=int(node.tag[1:])), node)
        elif kind in ("bullet_list", "ordered_list"):
            self._list(node, place)
        elif kind == "blockquote":
            self.blocks(node.children, replace(place, style="Quote"))
        elif kind == "table":
            self._table(node)
        elif kind in ("fence", "code_block", "html_block"):
            self._paragraph(place, node.content.rstrip("\n"), _Style(code=kind != "html_block"))
        elif kind == "hr":
            self._paragraph(place, _LINE, _Style())
        else:
            self._inline(self._added(place), node)

    def _paragraph(self, place: _Place, text: str, style: _Style) -> None:
        _run(self._added(place), text, style)

    def _added(self, place: _Place) -> Any:
        paragraph = self._document.add_paragraph(style=place.style)
        if place.numbering is not None:
            properties = paragraph.paragraph_format.element.get_or_add_pPr().get_or_add_numPr()
            properties.get_or_add_ilvl().val = 0
            properties.get_or_add_numId().val = place.numbering
        return paragraph

    def _list(self, node: SyntaxTreeNode, place: _Place) -> None:
        depth = min(DEEPEST_LIST, place.depth + 1)
        is_ordered = node.type == "ordered_list"
        suffix = "" if depth == 1 else f" {depth}"
        style = f"List {'Number' if is_ordered else 'Bullet'}{suffix}"
        numbering = self._numbering(style, int(node.attrs.get("start", 1))) if is_ordered else None
        for item in node.children:
            first = _Place(depth, style, numbering)
            for child in item.children:
                self._block(child, first)
                if child.type == "paragraph":
                    first = _Place(depth, f"List Continue{suffix}")

    def _numbering(self, style: str, start: int) -> int:
        """Return a new numbering of the style, which begins at `start`."""
        numbering = self._document.part.numbering_part.element
        number = self._document.styles[style].element.pPr.numPr.numId.val
        fresh = numbering.add_num(numbering.num_having_numId(number).abstractNumId.val)
        fresh.add_lvlOverride(ilvl=0).add_startOverride(start)
        return fresh.numId

    def _table(self, node: SyntaxTreeNode) -> None:
        rows = [row for part in node.children for row in part.children]
        table = self._document.add_table(len(rows), max(len(row.children) for row in rows), style="Table Grid")
        for place, (row, cells) in enumerate(zip(rows, table.rows, strict=True)):
            for cell, target in zip(row.children, cells.cells, strict=False):
                self._inline(target.paragraphs[0], cell, _Style(bold=place == 0))

    def _inline(self, paragraph: Any, node: SyntaxTreeNode, style: _Style = _Style()) -> None:
        for inline in node.children:
            self._pieces(paragraph, inline.children, style, None)

    def _pieces(self, paragraph: Any, nodes: Sequence[SyntaxTreeNode], style: _Style, link: Any) -> None:
        for node in nodes:
            kind = node.type
            if kind in ("strong", "em", "s"):
                name = {"strong": "bold", "em": "italic", "s": "strike"}[kind]
                self._pieces(paragraph, node.children, replace(style, **{name: True}), link)
            elif kind == "link":
                self._link(paragraph, node, style)
            elif kind == "image":
                words = " ".join(part for part in (node.content, f"({node.attrs.get('src', '')})") if part)
                _run(paragraph, words, style, link)
            elif kind in ("softbreak", "hardbreak"):
                _run(paragraph, "\n", style, link)
            else:
                _run(paragraph, node.content, replace(style, code=style.code or kind == "code_inline"), link)

    def _link(self, paragraph: Any, node: SyntaxTreeNode, style: _Style) -> None:
        """Write a link to the web or to an address as one; of others the address stays as words."""
        target = str(node.attrs.get("href", ""))
        if not _LINK.fullmatch(target):
            self._pieces(paragraph, node.children, style, None)
            _run(paragraph, f" ({target})" if target else "", style)
            return
        link = OxmlElement("w:hyperlink")
        link.set(qn("r:id"), self._document.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
        paragraph.paragraph_format.element.append(link)
        self._pieces(paragraph, node.children, style, link)


def _run(paragraph: Any, text: str, style: _Style, link: Any = None) -> None:
    """Add a run of text, to the link if there is one."""
    if not text:
        return
    run = paragraph.add_run()
    for number, line in enumerate(text.split("\n")):
        if number:
            run.add_break(WD_BREAK.LINE)
        run.add_text(line)
    run.bold, run.italic = style.bold or None, style.italic or None
    run.font.strike = style.strike or None
    if style.code:
        run.font.name, run.font.size = "Courier New", Pt(10)
    if link is not None:
        run.font.underline = True
        link.append(run.element)
