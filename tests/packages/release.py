"""`python -m tests.packages.release`: makes all that a version consists of, in `dist/`, and tries it.

Wheel and sdist are built from the last commit and checked; the wheel is installed in a bare environment, with locked
packages, and started. Beside them lie the list of all that is in that environment (CycloneDX), the licences of all that
is shipped, and the hashes. At the end the changelog gets the version's block. The tools are installed by name and
version; nothing else needs a network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from tests.packages.changelog import NothingToReleaseError, dated
from tests.packages.lists import ROOT
from tests.web.bundle import make as make_bundle

TOOLS: Final = ("build==1.6.1", "twine==7.0.0", "cyclonedx-bom==7.5.0", "pip-licenses==5.5.5")
PACKAGES: Final = ("api", "drive_server", "graph")
LICENCES: Final = (
    "LICENSE",
    "api/web/vendor/LICENSES.txt",
    "drive_server/knowledge/embedding/model/LICENSE",
    "drive_server/knowledge/embedding/multilingual/LICENSE",
    "drive_server/knowledge/embedding/crossing/LICENSE",
    "drive_server/kernel/text/chinese/LICENSE",
)
"""The licences of what lies in the wheel itself."""
QUIET: Final = ("--quiet", "--disable-pip-version-check")
ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+")


class Release:
    """One making of a release: `work` holds what is thrown away, `dist` what stays."""

    def __init__(self, work: Path, dist: Path) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        self.name, self.version = f"drive_agent-{project['version']}", str(project["version"])
        self.work, self.dist = work, dist
        self.tools, self.bare = work / "tools" / "bin", work / "bare" / "bin"

    def make(self) -> None:
        """Make all of it. Raises `CalledProcessError` if a step fails, `ValueError` for what does not fit."""
        self._prepare()
        self._build()
        self._install()
        self._start()
        self._describe()
        self._sum()

    def _prepare(self) -> None:
        shutil.rmtree(self.dist, ignore_errors=True)
        self.dist.mkdir()
        for folder in (self.tools.parent, self.bare.parent):
            run(sys.executable, "-m", "venv", folder)
        run(self.tools / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS)
        self._pip("--require-hashes", "--requirement", ROOT / "deploy/requirements/build.lock")

    def _build(self) -> None:
        """Build a copy of the committed files, with the bundle of the page, by the locked tools."""
        source = self.work / "source"
        source.mkdir()
        archive = self.work / "source.tar"
        run("git", "-C", ROOT, "archive", "--output", archive, "HEAD")
        shutil.unpack_archive(archive, source)
        make_bundle(source / "api" / "page" / "bundle", source / "api" / "web")
        moment = subprocess.check_output(["git", "-C", ROOT, "log", "-1", "--format=%ct"], text=True).strip()
        os.environ["SOURCE_DATE_EPOCH"] = moment
        options = ("--no-deps", "--no-build-isolation", "--wheel-dir", self.dist)
        run(self.bare / "python", "-m", "pip", "wheel", *QUIET, *options, source)
        run(self.tools / "python", "-m", "build", "--sdist", "--outdir", self.dist, source)
        run(self.tools / "python", "-m", "twine", "check", "--strict", *self.dist.iterdir())
        if missing := self._missing(source):
            raise ValueError(f"The wheel lacks: {', '.join(missing)}")

    def _missing(self, source: Path) -> list[str]:
        """Return the files of the packages that the wheel has not."""
        with ZipFile(self.dist / f"{self.name}-py3-none-any.whl") as wheel:
            there = set(wheel.namelist())
        files = (path for package in PACKAGES for path in (source / package).rglob("*") if path.is_file())
        names = {path.relative_to(source).as_posix() for path in files if "egg-info" not in path.as_posix()}
        return sorted(names - there)

    def _install(self) -> None:
        self._pip("--no-build-isolation", "--require-hashes", "--requirement", ROOT / "requirements.lock")
        self._pip("--no-deps", self.dist / f"{self.name}-py3-none-any.whl")
        run(self.bare / "python", "-m", "pip", "check", "--disable-pip-version-check")

    def _pip(self, *arguments: str | Path) -> None:
        run(self.bare / "python", "-m", "pip", "install", *QUIET, *arguments)

    def _start(self) -> None:
        """Start the installed program outside of the repository, on an empty data directory, and ask if it is ready."""
        program = self.bare / "drive-agent"
        foreign = ("AGENT_", "DRIVE_", "OPENAI_", "PYTHON")
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        settings = {"DRIVE_DATA_DIR": str(self.work / "data"), "HOME": str(self.work)}
        said = subprocess.check_output([program, "--version"], cwd=self.work, text=True).split()[-1]
        if said != self.version:
            raise ValueError(f"The program says that it is {said}, not {self.version}.")
        command = [program, "serve", "--port", "0"]
        environment = {**inherited, **settings}
        with subprocess.Popen(command, cwd=self.work, env=environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                address = next((found[0] for line in process.stdout or () if (found := ADDRESS.search(line))), "")
                with urllib.request.urlopen(f"{address}/readyz", timeout=30) as answer:  # noqa: S310 - this machine's
                    say(f"{address}/readyz: {answer.read().decode()}")
            finally:
                process.terminate()
        if process.returncode:
            raise ValueError(f"The service ended with {process.returncode}.")

    def _describe(self) -> None:
        """Write the list of packages and the licences; the environment has what builds packages no more."""
        run(self.bare / "python", "-m", "pip", "uninstall", *QUIET, "--yes", "setuptools", "pip")
        target = self.dist / f"{self.name}.cdx.json"
        form = ("--output-format", "JSON", "--output-reproducible", "--output-file", target)
        project = ("--pyproject", ROOT / "pyproject.toml")
        run(self.tools / "cyclonedx-py", "environment", self.bare / "python", *project, *form)
        own = "\n\n".join(f"{path}\n{'=' * len(path)}\n\n{(ROOT / path).read_text().strip()}" for path in LICENCES)
        texts = ("--with-license-file", "--no-license-path", "--with-notice-file")
        options = ("--from=mixed", "--format=plain-vertical", *texts, "--ignore-packages", "drive-agent")
        command = [self.tools / "pip-licenses", f"--python={self.bare / 'python'}", *options]
        others = subprocess.check_output(command, text=True)
        (self.dist / f"{self.name}.licences.txt").write_text(f"{own}\n\nPackages that it needs\n{'=' * 22}\n\n{others}")

    def _sum(self) -> None:
        lines: list[str] = []
        for path in sorted(self.dist.iterdir()):
            with path.open("rb") as file:
                lines.append(f"{file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
        (self.dist / "SHA256SUMS").write_text("".join(lines))


def run(*command: str | Path) -> None:
    """Run a command to its end. Raises `CalledProcessError` if it fails."""
    subprocess.run(command, check=True)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Make the release, then date the changelog; say what is left to do."""
    changelog = ROOT / "CHANGELOG.md"
    with TemporaryDirectory(prefix="drive-agent-release-") as work:
        release = Release(Path(work), ROOT / "dist")
        try:
            new = dated(changelog.read_text(), release.version, f"{datetime.now(UTC):%Y-%m-%d}")
            release.make()
        except (NothingToReleaseError, ValueError) as error:
            sys.exit(str(error))
    changelog.write_text(new)
    for path in sorted(release.dist.iterdir()):
        say(f"{path.stat().st_size:>12}  dist/{path.name}")
    version = release.version
    say(f"Left to do: read the block of {version} in CHANGELOG.md, commit it, and tag the commit v{version}.")


if __name__ == "__main__":
    main()
