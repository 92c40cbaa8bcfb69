"""`python -m tests.packages.lock UV`: makes the files of requirements anew with the program uv, which knows hashes.

Versions that are locked stay where pyproject.toml allows them; delete a file to have its newest ones.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.packages.lists import GROUPS, ROOT, entries

EXTRAS: Final = {
    "requirements.lock": (),
    "deploy/requirements/extras.lock": ("anthropic", "deepseek", "ollama", "postgres", "traces"),
    "deploy/requirements/test.lock": ("test",),
    "deploy/requirements/bench.lock": ("bench",),
    "deploy/requirements/dev.lock": ("dev",),
    "deploy/requirements/local.lock": ("local",),
}
OPTIONS: Final = (
    *("--universal", "--python-version", "3.11", "--generate-hashes", "--quiet", "--no-header", "--no-annotate"),
    *("--no-emit-index-url", "--no-emit-find-links"),
)
HEADER: Final = "# Made by `make lock`. Installed with pip's --require-hashes.\n"


def compiled(uv: str, source: Path, extras: tuple[str, ...], known: str) -> dict[str, str]:
    """Return the entries of what a file of requirements needs, on every platform and Python that is supported."""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "lock"
        output.write_text(known)
        chosen = [argument for extra in extras for argument in ("--extra", extra)]
        subprocess.run([uv, "pip", "compile", source, *chosen, *OPTIONS, "--output-file", output], check=True)
        return entries(output.read_text())


def main(uv: str) -> None:
    """Write all files; one that adds to another has only what is not there."""
    project = ROOT / "pyproject.toml"
    known = "\n".join(entries(path.read_text())[key] for path, key in _locked())
    with TemporaryDirectory() as folder:
        build = Path(folder) / "build.in"
        build.write_text("\n".join(tomllib.loads(project.read_text())["build-system"]["requires"]))
        found = {"deploy/requirements/build.lock": compiled(uv, build, (), known)}
    for name, extras in EXTRAS.items():
        found[name] = compiled(uv, project, extras, known)
    for name, base in GROUPS.items():
        above, named = {}, name
        while GROUPS[named]:
            named = _beside(named)
            above |= found[named]
        new = "".join(entry for key, entry in sorted(found[name].items()) if key not in above)
        (ROOT / name).write_text(HEADER + (f"-r {base}\n" if base else "") + new)


def _locked() -> list[tuple[Path, str]]:
    paths = [ROOT / name for name in GROUPS if (ROOT / name).exists()]
    seen: dict[str, Path] = {}
    for path in paths:
        seen |= {key: path for key in entries(path.read_text()) if key not in seen}
    return [(path, key) for key, path in seen.items()]


def _beside(name: str) -> str:
    return str(((ROOT / name).parent / GROUPS[name]).resolve().relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1])
