"""How long a whole drive takes out and in again: export, check, import into an empty drive, and the memory for it.

    python -m benchmarks.exports [--files 5000] [--folder /dev/shm]

The drive has versions, shares, links, stars, trash and threads. At the end both drives are compared: every hash of
every version, every role, every link's terms.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.whole_drive import fill

COMMAND = Path(sys.executable).with_name("drive-agent")
MEASURED = """
import resource, sys, time
from api.cli import main
begun = time.perf_counter()
code = main(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(f"measured {time.perf_counter() - begun:.1f} {peak}", file=sys.stderr)
sys.exit(code)
"""
PEOPLE = ("ann@example.com", "bob@example.com")


@contextmanager
def serving(folder: Path) -> Generator[httpx.Client]:
    """Serve a new drive, with accounts for the people; yields its owner's client."""
    environment = {"DRIVE_DATA_DIR": str(folder), "DRIVE_EMBEDDING_MODEL": "none", "NO_COLOR": "1", "PATH": ""}
    command = [COMMAND, "serve", "--port", "0"]
    service = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert service.stdout
    line = next(line for line in service.stdout if "Open:" in line)
    url = line.split()[1].partition("/login")[0]
    headers = {"Authorization": f"Bearer {(folder / 'token').read_text().strip()}"}
    with httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False) as client:
        for email in PEOPLE:
            client.post("/api/users", json={"email": email}).raise_for_status()
        yield client
    service.terminate()
    service.communicate()


def measured(client: httpx.Client, *arguments: str) -> list[str]:
    """Run a command; return how many seconds it took, and its peak of memory in MB."""
    token = client.headers["Authorization"].removeprefix("Bearer ")
    command = [sys.executable, "-c", MEASURED, *arguments, "--url", str(client.base_url), "--token", token]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(run.stdout + run.stderr)
    return run.stderr.rpartition("measured ")[2].split()


def whole(client: httpx.Client) -> list[Any]:
    """Return what has to be the same in both drives, by the paths of the items."""
    items: dict[str, dict[str, Any]] = {}
    cursor: str | None = ""
    while cursor is not None:
        page = client.get("/api/drive/export", params={"limit": "500"} | ({"cursor": cursor} if cursor else {})).json()
        items |= {item["id"]: item for item in page["items"]}
        cursor = page["cursor"]

    def path(item: dict[str, Any] | None) -> str:
        return f"{path(items.get(item['parent_id']))}/{item['name']}" if item else ""

    return sorted(
        [
            path(item),
            bool(item["trash_id"]),
            bool(item["starred_at"]),
            [[version["number"], version["sha256"], version["created_at"]] for version in item["versions"]],
            [[share["email"], share["role"]] for share in item["shares"]],
            [[link["role"], link["max_downloads"]] for link in item["links"]],
        ]
        for item in items.values()
    )


def main(arguments: list[str] | None = None) -> None:
    """Make a drive, take it out and in, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--folder", help="where the drives lie; by default the system's folder for temporary files")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as root:
        work, target = Path(root), str(Path(root) / "export")
        with serving(work / "first") as first, serving(work / "second") as second:
            begun = time.perf_counter()
            made = fill(first, chosen.files, [*PEOPLE], threads=50)
            print(f"{made}, made in {time.perf_counter() - begun:.0f} s")
            steps = [
                ["export", *measured(first, "export", target)],
                ["export again", *measured(first, "export", target)],
                ["check", *measured(first, "export", "--verify", target)],
                ["import", *measured(second, "import", target)],
                ["import again", *measured(second, "import", target)],
            ]
            same = whole(first) == whole(second)
            threads = second.get("/api/threads", params={"limit": "1000"}).json()["items"]
    print_table(f"A drive of {chosen.files} files", ["step", "seconds", "peak MB"], steps)
    print(f"hashes, times and rights are the same: {same}; threads: {len(threads)} of {made.threads}")
    if not same or len(threads) != made.threads:
        sys.exit(1)


if __name__ == "__main__":
    main()
