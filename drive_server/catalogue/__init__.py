"""Every sentence that the drive says in more than one language: by code, in English and in Chinese.

`{s}` is the plural ending for `{count}`. Codes with `effect.` describe a call beforehand, those with `change.`
afterwards; `seen.` is a change by somebody else. `error.` is for errors that have no sentence of their own, by their
code. The next step after an error is at its code with `.hint`. The journal stores codes: one that was in use stays
here.
"""

from typing import Final

from drive_server.catalogue.certificates import CERTIFICATES
from drive_server.catalogue.changes import CHANGES
from drive_server.catalogue.data import DATA
from drive_server.catalogue.errors import ERRORS
from drive_server.catalogue.omissions import OMISSIONS
from drive_server.catalogue.people import PEOPLE
from drive_server.catalogue.protocols import PROTOCOLS
from drive_server.catalogue.revisions import REVISIONS
from drive_server.catalogue.storage import STORAGE
from drive_server.catalogue.tables import TABLES
from drive_server.catalogue.unreadable import UNREADABLE
from drive_server.catalogue.words import WORDS

CATALOGUE: Final[dict[str, tuple[str, str]]] = {
    **WORDS,
    **CERTIFICATES,
    **CHANGES,
    **DATA,
    **ERRORS,
    **OMISSIONS,
    **PEOPLE,
    **PROTOCOLS,
    **REVISIONS,
    **STORAGE,
    **TABLES,
    **UNREADABLE,
}
