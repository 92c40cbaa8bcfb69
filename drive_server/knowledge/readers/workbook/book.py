"""Opens a workbook of any kind as sheets of cells. Limits on its size hold before anything is read."""

import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import olefile

from drive_server.knowledge.readers.archive import Archive, open_archive
from drive_server.knowledge.readers.workbook.binary import calamine_sheets
from drive_server.knowledge.readers.workbook.cells import Sheet
from drive_server.knowledge.readers.workbook.errors import xlsb_comments, xlsb_errors
from drive_server.knowledge.readers.workbook.ods import CONTENT, ods_sheets
from drive_server.knowledge.readers.workbook.package import Package
from drive_server.knowledge.readers.workbook.xls import xls_sheets
from drive_server.knowledge.readers.workbook.xlsx import xlsx_sheets
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

_MANIFEST: Final = "META-INF/manifest.xml"
_READ_ENTRIES: Final = (".xml", ".rels", ".bin")


@contextmanager
def open_workbook(path: Path, omissions: Omissions) -> Generator[Iterator[Sheet]]:
    """Give the sheets of a workbook, one after the other: each has to be read before the next one is asked for.

    Raises `UnreadableError` for one under a password or beyond a limit, and the errors of zipfile, lxml and the readers
    of binary workbooks for a damaged file.
    """
    # An old workbook may end with a theme, which is a zip archive.
    if olefile.isOleFile(str(path)) or not zipfile.is_zipfile(path):
        yield xls_sheets(path, omissions)
        return
    with open_archive(path) as archive:
        yield _packed_sheets(archive, path, omissions)


def _packed_sheets(archive: Archive, path: Path, omissions: Omissions) -> Iterator[Sheet]:
    package = Package(archive)
    if package.has(_MANIFEST) and b"encryption-data" in package.read(_MANIFEST):
        raise UnreadableError("password")
    if package.has(CONTENT) and not package.relations(""):
        return ods_sheets(package, omissions)
    workbook = package.main_part()
    if workbook.endswith(".bin"):
        archive.verify(_READ_ENTRIES)
        sheets = package.related(workbook, "worksheet")
        comments = (package.read(part) for sheet in sheets for part in package.related(sheet, "comments"))
        omissions.add("comment", sum(map(xlsb_comments, comments)))
        return calamine_sheets(path, sum(xlsb_errors(package.read(one)) for one in sheets), omissions)
    return xlsx_sheets(package, workbook, omissions)
