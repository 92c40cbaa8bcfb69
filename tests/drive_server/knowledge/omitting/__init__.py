"""Files with things that their readers count and do not read: one for each format and kind, as bytes."""

from collections.abc import Callable, Mapping

from drive_server.knowledge.text.omissions import OmissionKind
from tests.drive_server.knowledge.omitting import office, pages, texts, workbooks

Samples = Mapping[str, Mapping[OmissionKind, Callable[[], tuple[str, bytes]]]]
"""By the name of the format and the kind: a file's name and its bytes."""

SAMPLES: Samples = {**office.SAMPLES, **pages.SAMPLES, **texts.SAMPLES, **workbooks.SAMPLES}
