import json

from tests.web.vendor import LIST, SOURCES, VENDOR, row, vendored


def test_each_library_is_the_published_one_with_its_version_licence_and_hash() -> None:
    assert json.loads((VENDOR / LIST).read_text()) == {"files": {name: row(name) for name in SOURCES}}
    for name in SOURCES:
        assert (VENDOR / name).read_bytes() == vendored(name), "python -m tests.web.vendor"


def test_nothing_else_is_among_the_libraries() -> None:
    found = {path.name for path in VENDOR.iterdir() if not path.name.endswith(".d.ts")}
    assert found == {*SOURCES, LIST, "LICENSES.txt"}
