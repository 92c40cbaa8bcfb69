"""Text in images: read by Tesseract if this machine has it, with the languages that are installed with it."""

import shutil
import struct
import subprocess
import warnings
from functools import cache
from pathlib import Path

from PIL import Image

from drive_server.knowledge.elements import Extraction, Part, UnreadableError, join

MAX_PIXELS = 60_000_000
OCR_SECONDS = 120.0
_LANGUAGES = ("eng", "chi_sim", "chi_tra")
_LEAST_SIDE = 8
_PROGRAM = "tesseract"


def image_extraction(path: Path) -> Extraction:
    """Return the words in an image. Blocks, for minutes at most. Raises `OSError` for an image that is cut off."""
    _check(path)
    program = shutil.which(_PROGRAM)
    if program is None:
        raise UnreadableError("needs_ocr", "Words in images are read by OCR; install tesseract to have them searched.")
    return join(Part("text", block.strip()) for block in _recognized(program, path).split("\n\n"))


def _check(path: Path) -> None:
    """Look at the image's header alone. Raises `UnreadableError` for one that is too large, or unknown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                width, height = image.size
    except Image.DecompressionBombError as error:
        raise _too_large() from error
    except (OSError, SyntaxError, ValueError, struct.error) as error:  # as the reader of its kind raises
        raise UnreadableError("unsupported", "Images of this kind are not read, or the image is damaged.") from error
    if width * height > MAX_PIXELS:
        raise _too_large()
    if min(width, height) < _LEAST_SIDE:
        raise UnreadableError("unsupported", "The image is too small to hold words.")


def _recognized(program: str, path: Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the machine's tesseract; the path is the blob's, not the person's
            [program, str(path), "stdout", "-l", "+".join(_languages(program))],
            capture_output=True,
            timeout=OCR_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableError("failed", f"OCR took longer than {OCR_SECONDS:.0f} seconds.") from error
    except subprocess.CalledProcessError as error:
        raise UnreadableError("failed", "The image is damaged, or OCR can't read its kind.") from error
    return done.stdout.decode("utf-8", errors="replace").replace("\f", "")


@cache
def _languages(program: str) -> tuple[str, ...]:
    """Return those of our languages that Tesseract has; English, which it always tries, if it won't say."""
    done = subprocess.run([program, "--list-langs"], capture_output=True, timeout=OCR_SECONDS, check=False)  # noqa: S603
    installed = done.stdout.decode(errors="replace").split()
    return tuple(language for language in _LANGUAGES if language in installed) or _LANGUAGES[:1]


def _too_large() -> UnreadableError:
    return UnreadableError("failed", f"The image has more than {MAX_PIXELS:,} pixels.")
