"""The memory and the CPU of a service that reads a folder: before, at the peak, and a minute after it has read all.

    python -m benchmarks.search.memory [--folder DIR | --texts 150] [--rest 60] [--keep FOLDER]

Starts `drive-agent serve` on a new data directory, and imports the folder, or so many English texts made up of common
words, a paragraph each. The memory is the proportional set size (PSS, `smaps_rollup`) of the service and of all
processes below it, so that pages that they share count once; the CPU is theirs, of processes that have ended too. The
processes are named with what they hold. Needs Linux's /proc.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.fixtures.table import print_table

COMMAND: Final = Path(sys.executable).with_name("drive-agent")
MEBIBYTE: Final = 1 << 20
TICKS: Final = os.sysconf("SC_CLK_TCK")
POLL_SECONDS: Final = 0.5
ENDED: Final = "ended"
SETTLE_SECONDS: Final = 5.0
MAX_SECONDS: Final = 900.0
TEXT: Final = (
    "the project plan needs one more review before budget numbers go to our partners in spring while every team "
    "writes down open questions about travel health insurance contracts garden tools music lessons and repairs"
)


def processes_of(parent: int) -> list[int]:
    """Return a process and all below it, parents first."""
    found = [parent]
    for process_id in found:
        for children in Path(f"/proc/{process_id}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:
                continue
    return found


def pss_of(process_id: int) -> int:
    """Return the proportional set size of a process in bytes; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def name_of(process_id: int) -> str:
    """Return the purpose of a process."""
    try:
        words = Path(f"/proc/{process_id}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ENDED
    if not any(words):
        return ENDED  # nobody has waited for it yet
    place = next((place for place, word in enumerate(words) if word.startswith("drive_server.")), None)
    return "service" if place is None else words[place + 1] or words[place].rpartition(".")[2]


def own_cpu_of(process_id: int) -> float:
    """Return the seconds of CPU of one process; 0 once it has ended."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / TICKS


def cpu_of(parent: int | None = None) -> float:
    """Return the seconds of CPU of a process, by default this one, and of all below it that live or were waited for."""
    ticks = 0
    for process_id in processes_of(parent or os.getpid()):
        try:
            fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


@dataclass(slots=True)
class Service:
    """A running service, the most memory that was seen, and the CPU of each process when it was last seen."""

    process_id: int
    environment: dict[str, str]
    peak: int = 0
    seconds: dict[tuple[str, int], float] = field(default_factory=dict[tuple[str, int], float])
    rows: list[list[str]] = field(default_factory=list[list[str]])

    def look(self) -> dict[str, int]:
        """Return the bytes by process, and note the peak."""
        found: dict[str, int] = {}
        for process_id in processes_of(self.process_id):
            name = name_of(process_id)
            if name == ENDED:
                continue  # its time was counted while it lived
            found[name] = found.get(name, 0) + pss_of(process_id)
            self.seconds[name, process_id] = max(self.seconds.get((name, process_id), 0.0), own_cpu_of(process_id))
        self.peak = max(self.peak, sum(found.values()))
        return found

    def add_row(self, name: str) -> None:
        """Add a row of the memory now."""
        found = self.look()
        parts = ", ".join(f"{process} {size // MEBIBYTE}" for process, size in found.items() if size)
        self.rows.append([name, str(sum(found.values()) // MEBIBYTE), parts])

    def shares(self) -> str:
        """Return the seconds of CPU since the start by the name of the processes."""
        found: dict[str, float] = {}
        for (name, _), seconds in self.seconds.items():
            found[name] = found.get(name, 0.0) + seconds
        return ", ".join(f"{name} {seconds:.1f} s" for name, seconds in found.items() if seconds)

    def rest(self, seconds: float) -> None:
        """Wait, and look meanwhile."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            self.look()
            time.sleep(POLL_SECONDS)

    def run(self, *words: str) -> None:
        """Run a command to its end, and look meanwhile."""
        with subprocess.Popen([COMMAND, *words], env=self.environment, stdout=subprocess.DEVNULL) as command:
            ends_at = time.monotonic() + MAX_SECONDS
            while command.poll() is None and time.monotonic() < ends_at:
                self.look()
                time.sleep(POLL_SECONDS)

    def wait_for_vectors(self) -> None:
        """Wait until no passage waits for its vector."""
        asked = [COMMAND, "index", "--status", "--json"]
        ends_at = time.monotonic() + MAX_SECONDS
        while time.monotonic() < ends_at:
            answer = subprocess.run(asked, env=self.environment, check=True, capture_output=True)
            status = json.loads(answer.stdout)
            if not status["awaiting_vectors"]:
                return
            self.rest(1.0)


@contextmanager
def serving(data: Path) -> Generator[Service]:
    """Start a service and stop it."""
    environment = {**os.environ, "DRIVE_DATA_DIR": str(data), "NO_COLOR": "1"}
    process = subprocess.Popen([COMMAND, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE)
    assert process.stdout
    next(line for line in process.stdout if b"ready" in line)
    try:
        yield Service(process.pid, environment)
    finally:
        process.terminate()
        process.communicate()


def make_texts(folder: Path, files: int) -> None:
    """Make English texts of a heading and a paragraph each, all different."""
    chosen = random.Random(3)  # noqa: S311 - any words do
    for number in range(files):
        paragraph = " ".join(chosen.choices(TEXT.split(), k=150))
        (folder / f"note {number}.md").write_text(f"# Note {number}\n\n{paragraph}.\n")


def measure(folder: Path, data: Path, rest: float) -> None:
    """Import the folder and print what that takes."""
    files = sum(path.is_file() for path in folder.rglob("*"))
    with serving(data) as service:
        service.rest(SETTLE_SECONDS)
        service.add_row("before")
        begun = cpu_of(service.process_id)
        service.run("import", str(folder), "--into", "/imported")
        service.wait_for_vectors()
        seconds = cpu_of(service.process_id) - begun
        service.add_row("just after")
        service.rest(rest)
        service.add_row(f"{rest:.0f} s later")
        service.rows.insert(1, ["at the peak", str(service.peak // MEBIBYTE), ""])
    print_table(f"Memory of a service that reads {files} files", ["", "MiB", "of these"], service.rows)
    print(f"CPU: {seconds:.1f} s, {1000 * seconds / files:.0f} ms a file; since the start {service.shares()}")


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="what is imported")
    parser.add_argument("--texts", type=int, default=150, help="made where no folder is named (default: %(default)s)")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds until the last look (default: %(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder: Path = options.folder or Path(scratch, "texts")
        if options.folder is None:
            folder.mkdir()
            make_texts(folder, options.texts)
        measure(folder, Path(scratch, "data"), options.rest)


if __name__ == "__main__":
    main()
