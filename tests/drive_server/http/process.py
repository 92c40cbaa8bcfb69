"""The drive's HTTP service in a process of its own, which can be measured, and killed."""

from __future__ import annotations

import http.client
import json
import os
import socket
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tests.forked import Forked

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    Body = bytes | Iterator[bytes] | None

NONE: Mapping[str, str] = MappingProxyType({})


@dataclass
class Running:
    """The service: its process, its port on this machine, and the local access token."""

    process: Forked
    port: int
    token: str

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def answer(
        self, method: str, path: str, body: Body = None, headers: Mapping[str, str] = NONE
    ) -> Generator[http.client.HTTPResponse]:
        """Send a request and lend the answer to it."""
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)) as connection:
            connection.request(method, path, body, sent)
            with connection.getresponse() as response:
                yield response

    def json(self, method: str, path: str, body: Body = None, headers: Mapping[str, str] = NONE) -> Any:
        """Send a request and return what the answer says."""
        with self.answer(method, path, body, headers) as response:
            assert response.status < 300, response.read()
            return json.loads(response.read())

    def peak(self) -> int:
        """Return the most memory that the process has had, in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


@contextmanager
def serving(folder: Path, program: Sequence[str] = ("drive_server.__main__", "http")) -> Generator[Running]:
    """Serve the drive in the folder, until the end of the block or until it is killed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environment = {**os.environ, "DRIVE_DATA_DIR": str(folder), "DRIVE_EMBEDDING_MODEL": "none"}
    with Forked(program[0], [*program[1:], "--port", str(port)], environment) as process:
        try:
            assert any(b"running on" in line for line in process.stderr), "the service did not start"
            yield Running(process, port, (folder / "token").read_text().strip())
        finally:
            process.terminate()
