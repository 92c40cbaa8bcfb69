"""Words in pictures: read by Tesseract if this machine has it, with the languages that are installed with it."""

import os
import re
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

from drive_server.knowledge.text.characters import CJK
from drive_server.knowledge.text.elements import UnreadableError

OCR_SECONDS = 120.0
"""The most seconds for all pictures of one file."""

_PROGRAM = "tesseract"
_LANGUAGES = ("eng", "chi_sim", "chi_tra")
_ORIENTATION = "osd"
_UPRIGHT_ITSELF = ("--psm", "1")  # finds out which way is up, if it has the data for it
_WIDE = f"[{CJK}\u3000-\u303f\uff01-\uff60]"
_BETWEEN_CJK = re.compile(rf"(?<={_WIDE})[ \n]+(?={_WIDE})")
_DIVIDED = re.compile(r"(?<=[a-z])-\n(?=[a-z])")


def find_program() -> str | None:
    """Return the path of Tesseract on this machine, None without it."""
    return shutil.which(_PROGRAM)


def recognize(program: str, picture: Path | bytes, seconds: float = OCR_SECONDS) -> list[str]:
    """Return the paragraphs in a picture, a file or its bytes. Blocks `seconds` at most; raises `UnreadableError`."""
    languages, options = _abilities(program)
    named = picture if isinstance(picture, Path) else "stdin"
    process = subprocess.Popen(  # noqa: S603 - the machine's tesseract; the path is the blob's, not the person's
        [program, str(named), "stdout", "-l", "+".join(languages), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    with process:
        _limit(process.pid, seconds)
        try:
            output, _ = process.communicate(picture if isinstance(picture, bytes) else None, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise UnreadableError("failed", f"OCR took longer than {OCR_SECONDS:.0f} seconds.") from error
    if process.returncode:
        raise UnreadableError("failed", "The image is damaged, or OCR can't read its kind.")
    return _paragraphs(output.decode("utf-8", errors="replace"))


def _limit(process_id: int, seconds: float) -> None:
    """Have the system end the process if ours is killed and no longer waits for it."""
    with suppress(ImportError, AttributeError, OSError):  # Linux alone can do it for another process
        import resource

        resource.prlimit(process_id, resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of Tesseract's output, which has blanks between Chinese characters, and line breaks."""
    blocks = (_BETWEEN_CJK.sub("", block.strip()) for block in text.replace("\f", "\n\n").split("\n\n"))
    return [" ".join(_DIVIDED.sub("", block).split()) for block in blocks if block]


@cache
def _abilities(program: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return those of our languages that Tesseract has, and options; English alone if it does not list them."""
    done = subprocess.run([program, "--list-langs"], capture_output=True, timeout=OCR_SECONDS, check=False)  # noqa: S603
    installed = done.stdout.decode(errors="replace").split()
    languages = tuple(language for language in _LANGUAGES if language in installed) or _LANGUAGES[:1]
    return languages, _UPRIGHT_ITSELF if _ORIENTATION in installed else ()
