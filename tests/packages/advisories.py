"""`python -m tests.packages.advisories`: asks OSV (https://osv.dev) for known weaknesses of the locked packages.

It exits with 1 if there is one. Without a network nobody is asked, which is said and fails nothing. `OSV_URL` names
another service of the same kind.
"""

from __future__ import annotations

import json
import os
import sys
from http.client import HTTPException
from typing import Any, Final
from urllib.request import Request, urlopen

from tests.packages.lists import Package, node_packages, page_packages, python_packages

URL: Final = "https://api.osv.dev"
SECONDS: Final = 30
AT_ONCE: Final = 500
ACCEPTED: Final[dict[str, str]] = {}
"""Advisories that don't concern this program, each with the reason."""


class NotAskedError(Exception):
    """The service could not be asked, or what it said can't be read."""


def ask(url: str, packages: list[Package]) -> dict[Package, list[str]]:
    """Return the ids of the advisories of each package that has some. Raises `NotAskedError`."""
    found: dict[Package, list[str]] = {}
    for start in range(0, len(packages), AT_ONCE):
        part = packages[start : start + AT_ONCE]
        for package, result in zip(part, _ask(url, part), strict=True):
            ids = [one["id"] for one in result.get("vulns", ()) if one["id"] not in ACCEPTED]
            if ids:
                found[package] = sorted(ids)
    return found


def _ask(url: str, packages: list[Package]) -> list[dict[str, Any]]:
    queries = [{"package": {"name": one.name, "ecosystem": one.ecosystem}, "version": one.version} for one in packages]
    body = json.dumps({"queries": queries}).encode()
    request = Request(f"{url}/v1/querybatch", body, {"Content-Type": "application/json"})  # noqa: S310 - https, or what OSV_URL names
    try:
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - as above
            results = json.load(answer)["results"]
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        raise NotAskedError(str(error)) from error
    if not isinstance(results, list) or len(results) != len(packages):
        raise NotAskedError("the answer is not one for each package")
    return results


def main() -> int:
    """Print what is known, and return the exit code."""
    packages = sorted(python_packages() | node_packages() | page_packages())
    try:
        found = ask(os.environ.get("OSV_URL", URL), packages)
    except NotAskedError as error:
        print(f"Advisories: not asked ({error}).")  # noqa: T201 - its output
        return 0
    for package, ids in sorted(found.items()):
        print(f"{package.name} {package.version} ({package.ecosystem}): {', '.join(ids)}")  # noqa: T201 - its output
    print(f"Advisories: {len(packages)} packages asked about, {len(found)} with known weaknesses.")  # noqa: T201 - its output
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
