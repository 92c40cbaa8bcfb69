"""The lists of packages in this repository: requirements by group with hashes, Node's lock, the page's libraries."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
NODE_LOCK: Final = ROOT / "tests" / "node" / "package-lock.json"
PAGE: Final = ROOT / "api" / "web" / "vendor"
GROUPS: Final = {
    "deploy/requirements/build.lock": "",
    "requirements.lock": "",
    "deploy/requirements/extras.lock": "../../requirements.lock",
    "deploy/requirements/test.lock": "extras.lock",
    "deploy/requirements/bench.lock": "test.lock",
    "deploy/requirements/dev.lock": "test.lock",
    "deploy/requirements/local.lock": "test.lock",
}
"""Each file, and the one that it adds to."""
_ENTRY: Final = re.compile(r"^(?P<name>[a-z0-9.-]+)==(?P<version>[^\s;]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """A package of an ecosystem, as OSV names both."""

    ecosystem: str
    name: str
    version: str


def entries(text: str) -> dict[str, str]:
    """Return the entries of a file of requirements, each with its hashes, by name, version and marker."""
    blocks = re.split(r"(?m)^(?=[a-z0-9])", text)
    return {block.partition("\n")[0]: block for block in blocks if _ENTRY.match(block)}


def python_packages() -> set[Package]:
    """Return the packages of all groups."""
    texts = [(ROOT / name).read_text() for name in GROUPS]
    return {Package("PyPI", found["name"], found["version"]) for text in texts for found in _ENTRY.finditer(text)}


def node_packages() -> set[Package]:
    """Return the packages that the tests run on Node, among them the libraries of the page."""
    packages = json.loads(NODE_LOCK.read_text())["packages"]
    return {
        Package("npm", entry.get("name") or path.rpartition("node_modules/")[2], entry["version"])
        for path, entry in packages.items()
        if path
    }


def page_packages() -> set[Package]:
    """Return the libraries that the page sends to browsers."""
    rows = json.loads((PAGE / "vendor.json").read_text())["files"].values()
    return {Package("npm", row["package"], row["version"]) for row in rows}
