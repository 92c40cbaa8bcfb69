"""Names of the elements of OpenDocument, and which of them are not text."""

from typing import Final

_SPACE = "urn:oasis:names:tc:opendocument:xmlns"
TEXT: Final = f"{{{_SPACE}:text:1.0}}"
TABLE: Final = f"{{{_SPACE}:table:1.0}}"
DRAW: Final = f"{{{_SPACE}:drawing:1.0}}"
OFFICE: Final = f"{{{_SPACE}:office:1.0}}"
PRESENTATION: Final = f"{{{_SPACE}:presentation:1.0}}"
STYLE: Final = f"{{{_SPACE}:style:1.0}}"
FORM: Final = f"{{{_SPACE}:form:1.0}}"
CHART: Final = f"{{{_SPACE}:chart:1.0}}"
SVG: Final = f"{{{_SPACE}:svg-compatible:1.0}}"
EXTENSION: Final = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
LINK: Final = "{http://www.w3.org/1999/xlink}href"
ID: Final = "{http://www.w3.org/XML/1998/namespace}id"
CREATOR: Final = "{http://purl.org/dc/elements/1.1/}creator"

PARAGRAPHS: Final = (f"{TEXT}p", f"{TEXT}h")
FRAME, ANNOTATION, CONTROL = f"{DRAW}frame", f"{OFFICE}annotation", f"{DRAW}control"
APART: Final = (f"{DRAW}text-box", f"{TEXT}note-body", ANNOTATION)
"""Elements within a paragraph whose paragraphs follow it."""

NOT_READ: Final = frozenset(
    (
        *(f"{TEXT}{name}" for name in ("tracked-changes", "sequence-decls")),
        f"{TEXT}page-number",
        *(f"{OFFICE}{name}" for name in ("annotation-end", "forms", "scripts")),
    )
)
