"""A folder as people have them: many kinds of files, and some that make trouble."""

from __future__ import annotations

import os
import struct
import unicodedata
import zlib
from typing import TYPE_CHECKING

from docx import Document
from reportlab.pdfgen.canvas import Canvas

if TYPE_CHECKING:
    from pathlib import Path

BIG_BYTES = 50_000_000
TEXTS = {
    "readme.txt": "Plain text about gardens.\n",
    "notes/plan.md": "# Plan\n\nPlant the marigolds in May.\n",
    "notes/page.html": "<html><body><h1>Roses</h1><p>Prune them in March.</p></body></html>",
    "notes/prices.csv": "plant,price\nrose,4.50\nmarigold,1.20\n",
    "中文/员工手册.md": "# 员工手册\n\n育儿假为16周。\n",
    "中文/😀 notes 👩‍👧.txt": "Emoji in the name.\n",
    "empty.txt": "",
    unicodedata.normalize("NFD", "café.txt"): "The name is decomposed.\n",
}


def make_mixed_folder(root: Path) -> dict[str, bytes]:
    """Fill a folder; returns the content of every file that has to be in the drive afterwards, by its path there."""
    for name, text in TEXTS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _write_pdf(root / "notes" / "report.pdf")
    _write_docx(root / "notes" / "letter.docx")
    (root / "picture.png").write_bytes(_png())
    (root / "big.bin").write_bytes(os.urandom(BIG_BYTES))
    (root / "nothing in it").mkdir()
    expected = {
        unicodedata.normalize("NFC", str(path.relative_to(root))): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }
    (root / "link to readme").symlink_to("readme.txt")
    (root / "link to itself").symlink_to(".", target_is_directory=True)
    os.mkfifo(root / "pipe")
    unreadable = root / "secret.txt"
    unreadable.write_text("nobody may read this")
    unreadable.chmod(0)
    return expected


def _write_pdf(path: Path) -> None:
    canvas = Canvas(str(path))
    canvas.drawString(72, 720, "The tulips flower in April.")
    canvas.save()


def _write_docx(path: Path) -> None:
    document = Document()
    document.add_heading("Letter", 1)
    document.add_paragraph("Dear gardener, the daffodils have come up.")
    document.save(str(path))


def _png() -> bytes:
    """Return a picture of one white pixel (PNG specification, sections 5 and 11)."""

    def block(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + block(b"IHDR", header) + block(b"IDAT", zlib.compress(b"\x00\xff")) + block(b"IEND", b"")
    )
