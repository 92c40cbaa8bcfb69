"""A proxy that loses connections: it passes requests on, and cuts some answers off before the client has them."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


class CuttingProxy:
    """Forwards to `target`. Every other answer to a change is received from the service and thrown away, `cuts` times.

    With no `cuts_left` everything passes; with `every` all such answers are thrown away.
    """

    def __init__(self, target: tuple[str, int], cuts: int, *, every: bool) -> None:
        self._target = target
        self._lock = Lock()
        self.cuts_left = cuts
        self._every = every
        self._let_pass = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def serve(self) -> None:
        """Accept connections until closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            Thread(target=self._handle, args=(client,), daemon=True).start()

    def close(self) -> None:
        """Accept no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _handle(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as service:
            changing = [False]
            back = Thread(target=self._pass_back, args=(service, client, changing), daemon=True)
            back.start()
            while data := _receive(client):
                if b"POST /api/drive/" in data:
                    changing[0] = True
                service.sendall(data)
            _shut(service)
            back.join()

    def _pass_back(self, service: socket.socket, client: socket.socket, changing: list[bool]) -> None:
        while data := _receive(service):
            if changing[0] and self._shall_cut():
                break
            changing[0] = False
            client.sendall(data)
        _shut(client)

    def _shall_cut(self) -> bool:
        with self._lock:
            cut = self.cuts_left > 0 and not self._let_pass
            self.cuts_left -= cut
            self._let_pass = cut and not self._every
            return cut


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except OSError:
        return b""


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


@contextmanager
def cutting_proxy(url: str, cuts: int, *, every: bool = False) -> Generator[CuttingProxy]:
    """Serve a proxy in front of the service at `url`."""
    host, _, port = url.removeprefix("http://").partition(":")
    proxy = CuttingProxy((host, int(port)), cuts, every=every)
    thread = Thread(target=proxy.serve)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
