"""OCR of scans drawn from known texts, in both languages: wrong characters, seconds, memory.

Run: python -m benchmarks.search.ocr --font FILE
FILE is a TrueType font with Chinese, as in the package fonts-wqy-microhei of Debian. The pages are A4 at 200 dots an
inch, turned a little, with noise. The character error rate is the edit distance over the length, without blanks.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PIL import Image, ImageChops, ImageDraw, ImageFont

from drive_server.kernel.messages import TEXTS
from drive_server.knowledge.readers.pages.scans import recognize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGES = 3
LINES = 26
WIDTH, HEIGHT, MARGIN, PITCH, SIZE = 1654, 2339, 150, 78, 34
CHARACTERS = {"en": 72, "zh": 38}
TURNED_BY = 0.6
NOISE = 18


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--font", type=Path, required=True)
    font = ImageFont.truetype(str(parser.parse_args().font), SIZE)
    print("| language | pages | characters | wrong | seconds a page, median | CPU seconds a page |")
    print("|---|---|---|---|---|---|")
    for language in CHARACTERS:
        measure(language, list(islice(pages_of(language, CHARACTERS[language]), PAGES)), font)
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def pages_of(language: str, width: int) -> Iterator[list[str]]:
    """Cut the sentences that the drive says in a language into pages of lines."""
    texts = [TEXTS.template(code, language) for code in sorted(TEXTS.codes)]
    sentences = [text for text in texts if "{" not in text]
    random.Random(1).shuffle(sentences)  # noqa: S311 - an order that stays
    text = " ".join(" ".join(sentences).split())
    lines = [text[start : start + width].strip() for start in range(0, len(text), width)]
    for first, last in pairwise(range(0, len(lines), LINES)):
        yield lines[first:last]


def measure(language: str, pages: Sequence[list[str]], font: ImageFont.FreeTypeFont) -> None:
    """Print the row of a language. The first page loads the models and is read twice."""
    seconds: list[float] = []
    wrong = total = 0
    with TemporaryDirectory() as folder:
        path = Path(folder, "scan.png")
        scan(pages[0], font).save(path)
        recognize(path, path.name, "", after=0, seconds=0)
        cpu = time.process_time()
        for lines in pages:
            scan(lines, font).save(path)
            start = time.perf_counter()
            found = recognize(path, path.name, "", after=0, seconds=0)
            seconds.append(time.perf_counter() - start)
            read = "".join(part.text for page in found.pages for part in page.parts or ())
            expected = without_blanks("".join(lines))
            wrong += distance(expected, without_blanks(read))
            total += len(expected)
    each = (time.process_time() - cpu) / len(pages)
    median = statistics.median(seconds)
    print(f"| {language} | {len(pages)} | {total} | {wrong / total:.2%} | {median:.1f} | {each:.1f} |")


def scan(lines: Sequence[str], font: ImageFont.FreeTypeFont) -> Image.Image:
    """Draw the lines as a scanner sees them."""
    page = Image.new("L", (WIDTH, HEIGHT), 255)
    drawing = ImageDraw.Draw(page)
    for number, line in enumerate(lines):
        drawing.text((MARGIN, MARGIN + number * PITCH), line, font=font, fill=20)
    noise = Image.effect_noise((WIDTH, HEIGHT), NOISE)
    return ImageChops.add(page.rotate(TURNED_BY, fillcolor=255), noise, scale=1, offset=-128)


def without_blanks(text: str) -> str:
    """Return the text with no blanks: where they stand between characters of Chinese is no error."""
    return "".join(text.split())


def distance(one: str, other: str) -> int:
    """Return the edit distance (Levenshtein 1966) of two texts."""
    row = list(range(len(other) + 1))
    for number, character in enumerate(one, start=1):
        before, row[0] = row[0], number
        for column, another in enumerate(other, start=1):
            cost = min(row[column] + 1, row[column - 1] + 1, before + (character != another))
            before, row[column] = row[column], cost
    return row[-1]


if __name__ == "__main__":
    main()
