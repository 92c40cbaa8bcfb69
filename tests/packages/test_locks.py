"""Each package is locked with its hashes, for every group of requirements, and nothing tells where it came from."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packages.lists import GROUPS, PAGE, ROOT, entries, node_packages, page_packages, python_packages
from tests.packages.verify import altered

if TYPE_CHECKING:
    from pathlib import Path

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
EXTRA_FILES = {
    "bench": "deploy/requirements/bench.lock",
    "dev": "deploy/requirements/dev.lock",
    "local": "deploy/requirements/local.lock",
    "test": "deploy/requirements/test.lock",
}


def whole(name: str) -> dict[str, set[str]]:
    """Return the versions of all packages that a file names, with those of the files that it adds to."""
    found: dict[str, set[str]] = {}
    path = ROOT / name
    while True:
        for key in entries(path.read_text()):
            package, _, locked = key.partition(" ")[0].partition("==")
            found.setdefault(package, set()).add(locked)
        base = re.search(r"^-r (\S+)$", path.read_text(), re.MULTILINE)
        if base is None:
            return found
        path = (path.parent / base[1]).resolve()


def wanted(extra: str) -> list[Requirement]:
    """Return what an extra needs, and the extras of this project that it names."""
    found: list[Requirement] = []
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        own = canonicalize_name(requirement.name) == PROJECT["name"]
        found += [one for name in requirement.extras for one in wanted(name)] if own else [requirement]
    return found


def missing(requirements: list[Requirement], locked: dict[str, set[str]]) -> set[str]:
    return {
        str(one)
        for one in requirements
        if not any(one.specifier.contains(version) for version in locked.get(canonicalize_name(one.name), ()))
    }


@pytest.mark.parametrize("name", GROUPS)
def test_every_entry_has_its_version_and_hashes_and_no_line_an_address(name: str) -> None:
    found = entries((ROOT / name).read_text())
    assert found
    for key, block in found.items():
        assert "==" in key
        hashes = block.splitlines()[1:]
        assert hashes, key
        assert all(HASH.fullmatch(line) for line in hashes), key
    others = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith((" ", *found))]
    assert all(re.fullmatch(r"# [\w `.']+\. [\w ']+--require-hashes\.|-r [./a-z]+\.lock", line) for line in others)


def test_each_group_names_all_that_pyproject_asks_for_in_a_version_that_it_allows() -> None:
    assert missing([Requirement(one) for one in PROJECT["dependencies"]], whole("requirements.lock")) == set()
    for extra in PROJECT["optional-dependencies"]:
        assert missing(wanted(extra), whole(EXTRA_FILES.get(extra, "deploy/requirements/extras.lock"))) == set(), extra


def test_what_is_installed_here_is_what_is_locked() -> None:
    other = []
    for name in GROUPS:
        for key in entries((ROOT / name).read_text()):
            requirement = Requirement(key.rstrip(" \\"))
            try:
                here = version(requirement.name)
            except PackageNotFoundError:  # of a group that is not installed
                continue
            if requirement.marker is None or requirement.marker.evaluate():
                other += [] if requirement.specifier.contains(here) else [f"{requirement}, here {here}"]
    # What builds packages is not removed from an environment that was made before it was locked.
    assert [one for one in other if not one.startswith("setuptools")] == []


def test_the_lists_name_all_ecosystems() -> None:
    assert {"fastapi", "pytest", "setuptools"} <= {one.name for one in python_packages()}
    assert {"preact", "eslint"} <= {one.name for one in node_packages()}
    assert {one.name for one in page_packages()} <= {one.name for one in node_packages()}


def test_a_library_of_the_page_that_was_altered_added_or_lost_is_named(tmp_path: Path) -> None:
    assert altered(PAGE) == []
    for path in PAGE.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "marked.js").write_text("alert(1)")
    (tmp_path / "more.js").write_text("alert(1)")
    (tmp_path / "htm.js").unlink()
    assert altered(tmp_path) == ["htm.js", "marked.js", "more.js"]


def test_every_installation_that_is_written_down_checks_hashes() -> None:
    for name in ("Makefile", "README.md", "docs/MODELS.md", "docs/DEVELOPMENT.md"):
        for line in (ROOT / name).read_text().splitlines():
            if "pip install" in line and not line.startswith("PIP =") and "langchain-google-genai" not in line:
                assert "--require-hashes" in line or line.endswith(" uv"), line
    recipe = (ROOT / "Makefile").read_text()
    assert "--require-hashes" in re.search(r"^INSTALL = .*$", recipe, re.MULTILINE)[0]  # pyright: ignore[reportOptionalSubscript] - it is there
