"""A Ceph cluster of one machine, with its contents in memory: a monitor, an OSD, and the gateway that speaks S3."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, create_connection, socket
from time import monotonic
from typing import TYPE_CHECKING, Final
from uuid import uuid4

import httpx
import obstore
from obstore.store import S3Store

if TYPE_CHECKING:
    import signal
    from collections.abc import Generator

ACCESS_KEY: Final = "access"
SECRET_KEY: Final = "secret"
START_SECONDS: Final = 120
END_SECONDS: Final = 30
CONFIGURATION: Final = """
[global]
fsid = {fsid}
mon host = [v2:127.0.0.1:{monitor}/0]
auth cluster required = none
auth service required = none
auth client required = none
ms bind msgr1 = false
ms mon client mode = crc
public addr = 127.0.0.1
cluster addr = 127.0.0.1
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/others.log
mon cluster log file = {folder}/cluster.log
pid file =
keyring = {folder}/keyring
mon data = {folder}/mon
mon data avail crit = 1
mon allow pool size one = true
mon max pg per osd = 1000
paxos propose interval = 0.05
osd data = {folder}/osd
osd objectstore = memstore
osd class load list = *
osd class default list = *
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
memstore device bytes = 4294967296
rgw data = {folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:{gateway}
rgw run sync thread = false
"""
"""Without keys the monitor is spoken to in plain words, which a gateway does only if it is told (`ms mon client mode`).
Each change of the cluster waits a second by default, and a first start makes a dozen."""


class Ceph:
    """The cluster, below a folder of its own with a short path. Its gateway may be away, slow or overloaded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._monitor, self._gateway_port = _free_ports(2)
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._names = count(1)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that programs find the gateway by."""
        return {
            "AWS_ENDPOINT": self.url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }

    @property
    def url(self) -> str:
        """The address of the gateway."""
        return f"http://127.0.0.1:{self._gateway_port}"

    def start(self) -> None:
        """Make the cluster and the user of its store, and start all of it."""
        fsid, osd = str(uuid4()), str(uuid4())
        for name in ("mon", "osd", "rgw"):
            (self._folder / name).mkdir()
        (self._folder / "keyring").touch()
        text = CONFIGURATION.format(fsid=fsid, folder=self._folder, monitor=self._monitor, gateway=self._gateway_port)
        (self._folder / "ceph.conf").write_text(text)
        address, map_file = f"[v2:127.0.0.1:{self._monitor}/0]", str(self._folder / "monmap")
        self._run("monmaptool", "--create", "--addv", "a", address, "--fsid", fsid, map_file)
        self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", map_file)
        self._begin("monitor", "ceph-mon", "-i", "a")
        self._run("ceph", "osd", "new", osd)
        self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self._begin("osd", "ceph-osd", "-i", "0")
        named = ["--uid", "drive", "--display-name", "drive"]
        self._run("radosgw-admin", "user", "create", *named, "--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY)
        self.start_gateway()

    def start_gateway(self, *options: str) -> None:
        """Start the gateway, and return when it answers."""
        self._begin("gateway", "radosgw", "-n", "client.admin", *options)
        deadline = monotonic() + START_SECONDS
        while not _answers(self._gateway_port):
            assert self._daemons["gateway"].poll() is None, self.log("gateway")
            assert monotonic() < deadline, self.log("gateway")
            threading.Event().wait(0.05)

    def stop_gateway(self) -> None:
        """End the gateway: whoever asks it is refused."""
        self._end("gateway")

    def log(self, daemon: str) -> str:
        """Return the log of `gateway`, `osd` or `monitor` since its last start."""
        return (self._folder / f"{daemon}.log").read_text()

    def send(self, daemon: str, what: signal.Signals) -> None:
        """Send a signal to `gateway`, `osd` or `monitor`."""
        self._daemons[daemon].send_signal(what)

    def stop(self) -> None:
        """End all of it."""
        for daemon in [*reversed(self._daemons)]:
            self._end(daemon)

    def new_bucket(self) -> str:
        """Make an empty bucket, and return its name."""
        name = f"bucket-{next(self._names)}"
        made = httpx.put(obstore.sign(self.store(name), "PUT", "", timedelta(minutes=5)), timeout=START_SECONDS)
        assert made.is_success, made.text
        return name

    def store(self, bucket: str) -> S3Store:
        """Return a bucket, whichever variables this process has."""
        return S3Store(
            bucket,
            endpoint=self.url,
            region="us-east-1",
            access_key_id=ACCESS_KEY,
            secret_access_key=SECRET_KEY,
            client_options={"allow_http": True},
        )

    def _begin(self, daemon: str, program: str, *arguments: str) -> None:
        with (self._folder / f"{daemon}.log").open("wb") as output:
            self._daemons[daemon] = subprocess.Popen(
                [program, "-c", self._folder / "ceph.conf", "-d", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def _end(self, daemon: str) -> None:
        process = self._daemons.pop(daemon)
        process.kill()
        process.wait(END_SECONDS)

    def _run(self, program: str, *arguments: str) -> None:
        environment = {**os.environ, "CEPH_CONF": str(self._folder / "ceph.conf")}
        done = subprocess.run(
            [program, *arguments], env=environment, capture_output=True, timeout=START_SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr.decode()


@contextmanager
def running_ceph() -> Generator[Ceph]:
    """Run a cluster."""
    assert shutil.which("radosgw"), "install Ceph with: python -m tests.conformance.s3.install"
    with tempfile.TemporaryDirectory(prefix="ceph-") as folder:
        ceph = Ceph(Path(folder))
        try:
            ceph.start()
            yield ceph
        finally:
            ceph.stop()


def _free_ports(number: int) -> list[int]:
    opened = [socket(AF_INET, SOCK_STREAM) for _ in range(number)]
    for one in opened:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in opened]
    for one in opened:
        one.close()
    return ports


def _answers(port: int) -> bool:
    try:
        with closing(create_connection(("127.0.0.1", port), timeout=1)):
            return True
    except OSError:
        return False
