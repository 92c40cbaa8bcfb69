import json
import re
from pathlib import Path

HERE = Path(__file__).parent


def test_the_programs_are_named_by_exact_version() -> None:
    wanted: dict[str, str] = json.loads((HERE / "package.json").read_text())["dependencies"]

    assert wanted
    for name, version in wanted.items():
        assert re.fullmatch(r"(npm:@[a-z]+/[a-z]+@)?\d[\w.-]*", version), name


def test_the_lock_has_a_hash_and_no_address_for_each_package() -> None:
    packages: dict[str, dict[str, object]] = json.loads((HERE / "package-lock.json").read_text())["packages"]
    installed = {path: package for path, package in packages.items() if path}

    assert installed
    for path, package in installed.items():
        assert str(package["integrity"]).startswith("sha512-"), path
        assert "resolved" not in package, path
