"""`python -m tests.web.check [--fix]`: what has to hold of the page's code before anything is drawn.

prettier, eslint with the layers of the rooms, the TypeScript compiler over JSDoc types, the unit tests on node, and the
tests of words, libraries and the first load. `--fix` writes what can be written: format and lint.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from tests.node.runtime import NODE, PACKAGES
from tests.web.types import generated

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT: Final = Path(__file__).parents[2]
HERE: Final = ROOT / "tests" / "web"
SECONDS: Final = 280
MODULES: Final = PACKAGES / "node_modules"
SOURCES: Final = ("!api/web/vendor/**", "api/web/**/*.{js,css,json,html}", "tests/web/**/*.{js,json}")
TYPES: Final = {
    "preact": "preact/src/index.d.ts",
    "preact/hooks": "preact/hooks/src/index.d.ts",
    "@preact/signals": "@preact/signals/dist/signals.d.ts",
    "@preact/signals-core": "@preact/signals-core/dist/signals-core.d.ts",
    "htm": "htm/dist/htm.d.ts",
    "marked": "marked/lib/marked.d.ts",
    "dompurify": "dompurify/dist/purify.es.d.mts",
    "tus-js-client": "tus-js-client/lib/index.d.ts",
}
"""What the vendored libraries are typed by; the files beside them in api/web/vendor name these."""


@contextmanager
def configurations() -> Generator[tuple[Path, Path]]:
    """Yield the configurations of eslint and the compiler, put where both find their packages."""
    names = ("eslint.config.mjs", "tsconfig.json", "openapi.d.ts")
    eslint, types, openapi = (PACKAGES / f"{os.getpid()}.{name}" for name in names)
    openapi.write_text(generated())
    paths = {"openapi": [str(openapi)], **{name: [str(MODULES / path)] for name, path in TYPES.items()}}
    eslint.write_text((HERE / "eslint.config.js").read_text())
    settings = {
        "extends": str(HERE / "tsconfig.json"),
        "compilerOptions": {"paths": paths},
        "include": [str(ROOT / "api/web/**/*.js"), str(ROOT / "api/web/**/*.d.ts")],
        "exclude": [str(ROOT / "api/web/vendor/*.js")],
    }
    types.write_text(json.dumps(settings))
    try:
        yield eslint, types
    finally:
        for path in (eslint, types, openapi):
            path.unlink()


def commands(eslint: Path, types: Path, *, fix: bool) -> dict[str, list[str]]:
    """Return the checks by name, as command lines."""
    tests = sorted(path.relative_to(ROOT).as_posix() for path in (HERE / "unit").rglob("*.test.js"))
    write = ["--write" if fix else "--check", "--log-level=warn"]
    prettier = ["--config", "tests/web/prettier.json"]
    lint = ["--config", str(eslint), "--max-warnings=0", *(["--fix"] if fix else [])]
    files = sorted(path.relative_to(ROOT).as_posix() for path in HERE.glob("test_*.py"))
    node = str(NODE)
    return {
        "types": [node, str(MODULES / "typescript/bin/tsc"), "--pretty", "false", "--project", str(types)],
        "words, libraries, first load": [
            # Without the fixtures of all tests: these need no database.
            *(sys.executable, "-m", "pytest", "--noconftest", "-q", "--no-header", "--tb=short"),
            *files,
        ],
        "eslint": [node, str(MODULES / "eslint/bin/eslint.js"), *lint, "api/web", "tests/web"],
        "prettier": [node, str(MODULES / "prettier/bin/prettier.cjs"), *prettier, *write, *SOURCES],
        "unit tests": [node, "--test", "--test-reporter=spec", "--import", "./tests/web/unit/setup.js", *tests],
    }


def run(line: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program in the project's folder."""
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)


def main(options: list[str]) -> int:
    """Run all checks, two at a time; print what each says if it fails. Return 1 if one did."""
    started = monotonic()
    with configurations() as (eslint, types), ThreadPoolExecutor(2) as pool:
        checks = commands(eslint, types, fix="--fix" in options)
        results = dict(zip(checks, pool.map(run, checks.values()), strict=True))
    failed = {name: done for name, done in results.items() if done.returncode}
    for name, done in failed.items():
        sys.stdout.write(f"--- {name}\n{done.stdout}{done.stderr}\n")
    sys.stdout.write(f"The page's code: {'see above' if failed else 'fine'} ({monotonic() - started:.0f} s).\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
