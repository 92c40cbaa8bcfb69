"""A process of its own for reading documents, whose libraries take up to 150 MB."""

from collections.abc import Callable
from pathlib import Path

from drive_server.knowledge.process import Answer, ChildProcess

NICENESS = 10
"""Reading gives way to the service, so that searches do not become slower."""

IDLE_SECONDS = 30.0
"""How long an idle reader waits for the next file. Another one starts within 0.2 s of CPU."""

Work = Callable[[Path, str, str], Answer]
"""A function of a file, its name and media type; at the top of a module, so that pickle finds it."""


class Reader(ChildProcess):
    """A process that reads one file at a time."""

    def __init__(self) -> None:
        super().__init__("reader", NICENESS)

    def run(self, work: Work[Answer], path: Path, name: str, media_type: str) -> Answer:
        """Run `work(path, name, media_type)` in the process. Blocks; the first call starts the process.

        Raises `ProcessCrashedError`, also if the process is ended meanwhile, and `OSError` if the file can't be opened.
        """
        return self.call(IDLE_SECONDS, work, path, name, media_type)
