"""`python -m tests.web.vendor`: puts the page's libraries into api/web/vendor from the npm packages of the tests.

Browsers resolve no bare names of packages without inline code, so these are replaced by the files beside.
"""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from tests.node.runtime import PACKAGES

VENDOR: Final = Path(__file__).parents[2] / "api" / "web" / "vendor"
LIST: Final = "vendor.json"
SOURCES: Final = {
    "preact.js": ("preact", "dist/preact.mjs"),
    "hooks.js": ("preact", "hooks/dist/hooks.mjs"),
    "signals-core.js": ("@preact/signals-core", "dist/signals-core.mjs"),
    "signals.js": ("@preact/signals", "dist/signals.mjs"),
    "htm.js": ("htm", "dist/htm.mjs"),
    "marked.js": ("marked", "lib/marked.esm.js"),
    "dompurify.js": ("dompurify", "dist/purify.min.js"),
    "tus.js": ("tus-js-client", "dist/tus.min.js"),
}
GLOBALS: Final = {"dompurify.js": "DOMPurify", "tus.js": "tus"}
"""What is small only as a script that makes a global: the module exports that."""
LICENCES: Final = ("LICENSE", "LICENSE.md", "license")
NEIGHBOURS: Final = {
    "preact": "./preact.js",
    "preact/hooks": "./hooks.js",
    "@preact/signals-core": "./signals-core.js",
}
_BARE = re.compile(r'(from\s*|import\s*)"([@a-z][^"]*)"')
_MAP = re.compile(r"\n?//# sourceMappingURL=.*\s*$")


def vendored(name: str) -> bytes:
    """Return a library as the page has it."""
    package, source = SOURCES[name]
    code = (PACKAGES / "node_modules" / package / source).read_text()
    code = _BARE.sub(lambda found: f'{found[1]}"{NEIGHBOURS[found[2]]}"', code)
    code = _MAP.sub("", code).rstrip() + "\n"
    return (code + (f"export default globalThis.{GLOBALS[name]};\n" if name in GLOBALS else "")).encode()


def licence_text(package: str) -> str:
    """Return the licence that a package comes with."""
    folder = PACKAGES / "node_modules" / package
    return next((folder / name).read_text() for name in LICENCES if (folder / name).exists())


def row(name: str) -> dict[str, Any]:
    """Return what vendor.json says of a file."""
    package, source = SOURCES[name]
    manifest = json.loads((PACKAGES / "node_modules" / package / "package.json").read_text())
    return {
        "package": package,
        "version": manifest["version"],
        "licence": manifest["license"],
        "source": source,
        "sha256": sha256(vendored(name)).hexdigest(),
    }


def main() -> None:
    """Write the libraries, their list and their licences."""
    VENDOR.mkdir(exist_ok=True)
    for name in SOURCES:
        (VENDOR / name).write_bytes(vendored(name))
    rows = {"files": {name: row(name) for name in SOURCES}}
    (VENDOR / LIST).write_text(json.dumps(rows, indent=2) + "\n")
    packages = sorted({package for package, _ in SOURCES.values()})
    texts = [f"{package}\n{'=' * len(package)}\n\n{licence_text(package).strip()}\n" for package in packages]
    (VENDOR / "LICENSES.txt").write_text("\n\n".join(texts))


if __name__ == "__main__":
    main()
