"""How fast a folder gets into the drive: `drive-agent import` into a running service, against copying with fsync.

    python -m benchmarks.importing [--files 300] [--megabytes 50] [--rounds 3]

The copy is the floor: it keeps the bytes as durably as the drive does, and does nothing else. Reading the files for
search is left out (`--no-wait`); it goes on in the background.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.fixtures.table import print_table

COMMAND = Path(sys.executable).with_name("drive-agent")
SMALL_BYTES = 4096
MEGABYTE = 1_000_000


def make_small(folder: Path, files: int) -> None:
    """Make text files of 4 KiB in ten folders."""
    for number in range(files):
        path = folder / f"part {number % 10}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\n" + "word " * (SMALL_BYTES // 5))


def make_large(folder: Path, megabytes: int) -> None:
    """Make one file of random bytes."""
    folder.mkdir(parents=True)
    (folder / "large.bin").write_bytes(os.urandom(megabytes * MEGABYTE))


def copy_durably(source: Path, target: Path) -> None:
    """Copy a tree; every file and its folder are on disk when this returns."""
    for path in source.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("wb") as file:
                file.write(path.read_bytes())
                file.flush()
                os.fsync(file.fileno())
            folder = os.open(copy.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)


def run_import(source: Path, into: str, environment: dict[str, str]) -> None:
    """Run the command as a person does; its own start is part of the time."""
    arguments = [COMMAND, "import", source, "--into", into, "--no-wait"]
    subprocess.run(arguments, env=environment, check=True, capture_output=True)


def timed(work: Callable[[], None]) -> float:
    """Return how many seconds the work took."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def row(name: str, source: Path, work: Path, environment: dict[str, str], rounds: int) -> list[str]:
    """Measure both ways in turn and return the row of their medians."""
    files = [path for path in source.rglob("*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in files) / MEGABYTE
    copies: list[float] = []
    imports: list[float] = []
    for number in range(rounds):
        copies.append(timed(lambda n=number: copy_durably(source, work / f"{name} {n}")))
        imports.append(timed(lambda n=number: run_import(source, f"/{name} {n}", environment)))
    seconds, floor = median(imports), median(copies)
    rates = [f"{len(files) / seconds:.0f}", f"{megabytes / seconds:.1f}", f"{megabytes / floor:.1f}"]
    return [name, *rates, f"{seconds / floor:.1f}"]


def main() -> None:
    """Measure many small files, and one large one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        work = Path(root)
        make_small(work / "small", chosen.files)
        make_large(work / "large", chosen.megabytes)
        environment = {**os.environ, "DRIVE_DATA_DIR": str(work / "data"), "NO_COLOR": "1"}
        service = subprocess.Popen([COMMAND, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE)
        assert service.stdout
        next(line for line in service.stdout if b"ready" in line)
        small = row(f"{chosen.files} files of 4 KiB", work / "small", work, environment, chosen.rounds)
        large = row(f"one file of {chosen.megabytes} MB", work / "large", work, environment, chosen.rounds)
        service.terminate()
        service.communicate()
    header = ["import", "files/s", "MB/s", "copy MB/s", "time ratio"]
    print_table(f"Importing, medians of {chosen.rounds}", header, [small, large])


if __name__ == "__main__":
    main()
