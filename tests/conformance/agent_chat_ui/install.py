"""`python -m tests.conformance.agent_chat_ui.install FOLDER`: builds agent-chat-ui from a clone of its repository.

npm has its packages, but not the page: `create-agent-chat-app` holds it as it was in March 2025, before approvals.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.node.runtime import NODE, NPM

BUILT: Final = Path(sys.prefix) / "agent-chat-ui"
NEXT: Final = BUILT / "node_modules" / "next" / "dist" / "bin" / "next"
BUILD: Final = BUILT / ".next" / "BUILD_ID"
FACE: Final = "@font-face { font-family: Inter; src: local('sans-serif') }"
FONTS: Final = f"module.exports = new Proxy({{}}, {{ get: () => {json.dumps(FACE)} }});"
"""Google's fonts, which a build would ask for: each is one of the machine's."""
LEFT: Final = (".git", ".next", "node_modules")


def main(source: Path) -> None:
    """Copy the sources, install exactly the locked packages by the pnpm that they name, and build."""
    shutil.rmtree(BUILT, ignore_errors=True)
    shutil.copytree(source, BUILT, ignore=shutil.ignore_patterns(*LEFT))
    fonts = BUILT / "fonts.cjs"
    fonts.write_text(FONTS)
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NODE_OPTIONS": "--use-system-ca", "NEXT_TELEMETRY_DISABLED": "1"}
    environment["NEXT_FONT_GOOGLE_MOCKED_RESPONSES"] = str(fonts)
    pnpm = json.loads((BUILT / "package.json").read_text())["packageManager"]
    install = [NODE, NPM, "exec", "--yes", "--", pnpm, "install", "--frozen-lockfile", "--ignore-scripts"]
    for command in (install, [NODE, NEXT, "build", "--no-lint"]):
        subprocess.run(command, cwd=BUILT, env=environment, check=True)
    shutil.rmtree(BUILD.parent / "cache")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "pnpm-lock.yaml").is_file():
        sys.exit("Name a clone of github.com/langchain-ai/agent-chat-ui: make test-agent-chat-ui SOURCE=FOLDER")
    main(Path(sys.argv[1]))
