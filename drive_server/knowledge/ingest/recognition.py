"""OCR in the background: when all files can be searched, pages that are pictures are read, one file after the other."""

import logging

from drive_server.knowledge.ingest.pending import Job, PendingFiles
from drive_server.knowledge.process import ProcessCrashedError
from drive_server.knowledge.readers.process import Reader
from drive_server.knowledge.readers.recognized import RecognizedTexts
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.knowledge.text.elements import Recognized, RecognizedPage

logger = logging.getLogger(__name__)


class Recognition:
    """Reads pages that are pictures, in a process of its own, which ends when there are none left.

    The recognized words are stored by content, page by page; when all pages of a content are there, its files are read
    again, and the words of the pages stand in their places. A page that crashes the process, or takes too long, is
    counted as not read, and no further ones of the file are tried. After any other error, such as one of the disk, the
    file is tried again later, a few times, and the others go on.
    """

    def __init__(self, pending: PendingFiles, texts: TextSource, recognized: RecognizedTexts) -> None:
        self._pending = pending
        self._texts = texts
        self._recognized = recognized
        self._reader: Reader | None = None

    async def step(self) -> bool:
        """Read some pages of a file. Return whether there was one."""
        job = await self._pending.next_for_ocr()
        if job is None or job.blob is None:
            self.close()
            return False
        try:
            await self._read_some(job, job.blob)
        except Exception:
            logger.exception("The pages of a file could not be read by OCR; the other files go on.")
            self.close()
            await self._pending.postpone_ocr(job.file_id, job.attempts + 1)
        return True

    def close(self) -> None:
        """End the process; the next file would start another one."""
        if self._reader is not None:
            self._reader.end()
            self._reader = None

    async def _read_some(self, job: Job, blob: str) -> None:
        after = await self._recognized.last(blob)
        found = await self._read(job, blob, after)
        await self._recognized.add(blob, found)
        if found.is_complete:
            await self._pending.read_again(job.file_id)

    async def _read(self, job: Job, blob: str, after: int) -> Recognized:
        self._reader = self._reader or Reader()
        try:
            return await self._texts.recognize(blob, job.name, job.media_type, self._reader, after)
        except ProcessCrashedError:
            logger.warning("A page could not be read by OCR.")
            self.close()
            return Recognized((RecognizedPage(after + 1, None),), is_complete=True)
