"""`python -m tests.web.bundle`: joins the page's modules, styles and words into few files, in `api/page/bundle`.

A release has them, and `make page` makes them. The service sends them if they are of the page that it has; without them
it sends the modules as they lie in `api/web`.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final
from uuid import uuid4

from api.page.bundle import FOLDER as BUNDLE
from api.page.files import FOLDER, PageFiles
from tests.node.runtime import NODE, PACKAGES

SCRIPT: Final = Path(__file__).with_suffix(".mjs")
SECONDS: Final = 120


def make(target: Path = BUNDLE, source: Path = FOLDER) -> PageFiles:
    """Make the bundle of the page (`source`) in a folder, whose files go; return the page with it.

    Raises `subprocess.CalledProcessError`.
    """
    # Node looks for packages beside a module; it may be reading this one for another process.
    script = PACKAGES / SCRIPT.name
    shutil.copy(SCRIPT, unfinished := PACKAGES / f"{uuid4().hex}.mjs")
    unfinished.replace(script)
    subprocess.run([NODE, script, source, target, PageFiles(source).version], check=True, timeout=SECONDS)
    return PageFiles(source, target)


if __name__ == "__main__":
    page = make()
    assert page.bundle
    sys.stdout.write(f"The page is in {len(page.bundle.contents)} files in api/page/bundle.\n")
