"""Compound files (MS-CFB 3.0), made small: what Outlook, and Office before 2007, store their documents in."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

SECTOR, MINI_SECTOR, CUTOFF = 512, 64, 4096
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
STORAGE, STREAM, ROOT = 1, 2, 5
Tree = Mapping[str, Any]
"""Streams (bytes) and storages (such mappings) by their names."""


def compound_file(tree: Tree) -> bytes:
    """Return a file with these streams and storages."""
    return _Writer().written(tree)


def message(properties: Mapping[str, str], attachments: tuple[str, ...] = ()) -> bytes:
    """Return a mail of Outlook (MS-OXMSG) with properties of text, by their four hexadecimal digits."""
    tree: dict[str, Any] = _properties(properties, header=32)
    for number, name in enumerate(attachments):
        tree[f"__attach_version1.0_#{number:08X}"] = _properties({"3707": name, "3704": name}, header=8)
    return compound_file(tree)


def _properties(values: Mapping[str, str], header: int) -> dict[str, Any]:
    encoded = {tag: value.encode("utf-16-le") for tag, value in values.items()}
    entries = [struct.pack("<HHIII", 0x001F, int(tag, 16), 6, len(data) + 2, 0) for tag, data in encoded.items()]
    streams = {f"__substg1.0_{tag}001F": data for tag, data in encoded.items()}
    return {"__properties_version1.0": b"\0" * header + b"".join(entries), **streams}


class _Writer:
    def __init__(self) -> None:
        self._sectors: list[bytes] = []
        self._fat: list[int] = []
        self._mini: list[bytes] = []
        self._mini_fat: list[int] = []
        self._entries: list[list[Any]] = []

    def written(self, tree: Tree) -> bytes:
        self._entries.append(["Root Entry", ROOT, FREE, END, 0])
        self._entries[0][2] = self._add_all(tree)
        mini = b"".join(self._mini)
        self._entries[0][3], self._entries[0][4] = self._store(mini), len(mini)
        directory = self._store(b"".join(self._entry(*entry) for entry in self._entries))
        mini_fat = self._store(struct.pack(f"<{len(self._mini_fat)}I", *self._mini_fat), fill=b"\xff")
        mini_sectors = -(-len(self._mini_fat) * 4 // SECTOR)
        fat_sectors = 1
        while (len(self._fat) + fat_sectors) * 4 > fat_sectors * SECTOR:
            fat_sectors += 1
        first = len(self._fat)
        self._fat += [FAT] * fat_sectors
        table = struct.pack(f"<{len(self._fat)}I", *self._fat).ljust(fat_sectors * SECTOR, b"\xff")
        header = struct.pack("<8s16xHHHHH6xIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0,
                             fat_sectors, directory, 0, CUTOFF)  # fmt: skip
        header += struct.pack("<IIII", mini_fat, mini_sectors, END, 0)
        header += struct.pack("<109I", *[first + index if index < fat_sectors else FREE for index in range(109)])
        return header + b"".join(self._sectors) + table

    def _add_all(self, tree: Tree) -> int:
        """Add the entries of a storage as a tree that is a list: each has the next one at its right."""
        previous = first = FREE
        for name, value in sorted(tree.items(), key=lambda item: (len(item[0]), item[0].upper())):
            index = len(self._entries)
            self._entries.append([name, STREAM, FREE, END, 0])
            if isinstance(value, bytes):
                self._entries[index][3:5] = [self._place(value), len(value)]
            else:
                self._entries[index][1:3] = [STORAGE, self._add_all(value)]
            if previous == FREE:
                first = index
            else:
                self._entries[previous].append(index)
            previous = index
        return first

    def _place(self, data: bytes) -> int:
        if len(data) >= CUTOFF:
            return self._store(data)
        count = -(-len(data) // MINI_SECTOR)
        start = len(self._mini)
        self._mini += [data[index * MINI_SECTOR :][:MINI_SECTOR].ljust(MINI_SECTOR, b"\0") for index in range(count)]
        self._mini_fat += [*range(start + 1, start + count), END] if count else []
        return start if count else END

    def _store(self, data: bytes, fill: bytes = b"\0") -> int:
        count = -(-len(data) // SECTOR)
        start = len(self._sectors)
        self._sectors += [data[index * SECTOR :][:SECTOR].ljust(SECTOR, fill) for index in range(count)]
        self._fat += [*range(start + 1, start + count), END] if count else []
        return start if count else END

    @staticmethod
    def _entry(name: str, kind: int, child: int, start: int, size: int, right: int = FREE) -> bytes:
        encoded = name.encode("utf-16-le") + b"\0\0"
        return struct.pack("<64sHBBIII16xI16xIQ", encoded, len(encoded), kind, 1, FREE, right, child, 0, start, size)
