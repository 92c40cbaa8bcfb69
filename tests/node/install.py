"""`python -m tests.node.install`: puts what package-lock.json names into this virtual environment.

With `--lock` it first makes package-lock.json anew from package.json.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.node.runtime import NODE, NPM, PACKAGES

HERE = Path(__file__).parent
MANIFEST, LOCK = "package.json", "package-lock.json"


def npm(*arguments: str) -> None:
    """Run npm where the programs go. Install scripts don't run; the lock holds no addresses of a registry."""
    # pip trusts the machine's certificates; the wheel's Node does so only when told.
    options = ["--ignore-scripts", "--omit-lockfile-registry-resolved", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run([NODE, "--use-system-ca", NPM, *arguments, *options], cwd=PACKAGES, check=True)


def main(arguments: list[str]) -> None:
    """Install exactly the locked versions."""
    PACKAGES.mkdir(exist_ok=True)
    shutil.copy(HERE / MANIFEST, PACKAGES / MANIFEST)
    if arguments == ["--lock"]:
        (PACKAGES / LOCK).unlink(missing_ok=True)
        npm("install", "--package-lock-only")
        shutil.copy(PACKAGES / LOCK, HERE / LOCK)
    shutil.copy(HERE / LOCK, PACKAGES / LOCK)
    npm("ci")


if __name__ == "__main__":
    main(sys.argv[1:])
