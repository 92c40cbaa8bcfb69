"""Have the system fail or record this process's fsync and fdatasync, from whatever library: by a seccomp filter.

The kernel asks a thread of this process what becomes of each call (seccomp_unotify(2)): a debugger isn't needed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from typing import Final

ARCHITECTURES: Final = {
    "x86_64": (0xC000003E, 317, {"fsync": 74, "fdatasync": 75, "rename": 82, "renameat": 264, "renameat2": 316}),
    "aarch64": (0xC00000B7, 277, {"fsync": 82, "fdatasync": 83, "renameat": 38, "renameat2": 276}),
}
"""The name of each machine in a filter (linux/audit.h), the number of `seccomp`, and those of the calls (unistd.h)."""

SET_NO_NEW_PRIVS: Final = 38
SET_MODE_FILTER: Final = 1
TO_ALL_THREADS: Final = 1 | 1 << 3 | 1 << 4
"""SECCOMP_FILTER_FLAG_TSYNC, NEW_LISTENER and TSYNC_ESRCH."""

RECEIVE: Final = 0xC0502100
SEND: Final = 0xC0182101
ASK, ALLOW, GO_ON = 0x7FC00000, 0x7FFF0000, 1
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
"""Instructions of a filter: load a word of the call, compare it, answer."""

NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
ANSWER: Final = struct.Struct("=QqiI")
RENAMED: Final = {"rename": 1, "renameat": 3, "renameat2": 3}
"""The number of the argument that is the new path, for each call."""


@dataclass
class SystemCalls:
    """The calls that were seen since `record`, as (name, path), and what becomes of the next ones."""

    failing: frozenset[str] = frozenset()
    every: int = 1
    """Only each call of this number fails: 1 is all of them."""

    seen: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _count: int = 0

    def watch(self) -> None:
        """Begin to see the calls of all threads. Raises `OSError` where the kernel has no such filters."""
        listener, names = _install_filter()
        threading.Thread(target=self._answer, args=[listener, names], daemon=True).start()

    def _answer(self, listener: int, names: dict[int, str]) -> None:
        while True:
            request = bytearray(NOTIFICATION.size)
            with suppress(FileNotFoundError):  # who asked was killed meanwhile
                ioctl(listener, RECEIVE, request)
                key, _, _, number, _, _, *arguments = NOTIFICATION.unpack(request)
                name = names[number]
                self.seen.append((name, _path(name, arguments)))
                answer = (-errno.EIO, 0) if self._fails(name) else (0, GO_ON)
                ioctl(listener, SEND, ANSWER.pack(key, 0, *answer))

    def _fails(self, name: str) -> bool:
        self._count += name in self.failing
        return name in self.failing and self._count % self.every == 0


def _path(name: str, arguments: list[int]) -> str:
    """Return what a call is about: what an open file is called, or the name that one gets."""
    if name in RENAMED:
        return os.fsdecode(ctypes.string_at(arguments[RENAMED[name]]))
    return os.readlink(f"/proc/self/fd/{arguments[0]}")  # noqa: PTH115 - an open file's link need not be a path


def _install_filter() -> tuple[int, dict[int, str]]:
    """Return the descriptor that tells of each call, and the calls' names by their numbers."""
    architecture, seccomp, calls = ARCHITECTURES[platform.machine()]
    program = _program(architecture, list(calls.values()))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    listener = libc.syscall(seccomp, SET_MODE_FILTER, TO_ALL_THREADS, program)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "this system has no filters of system calls")
    return listener, {number: name for name, number in calls.items()}


def _program(architecture: int, numbers: list[int]) -> bytes:
    """Return a `struct sock_fprog` that asks about these calls and allows all others."""
    count = len(numbers)
    steps = [(LOAD, 0, 0, 4), (JUMP_IF_EQUAL, 0, count + 1, architecture), (LOAD, 0, 0, 0)]
    steps += [(JUMP_IF_EQUAL, count - at, 0, number) for at, number in enumerate(numbers)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ASK)]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    _kept.append(ctypes.create_string_buffer(code, len(code)))
    return struct.pack("@HP", len(steps), ctypes.addressof(_kept[-1]))


_kept: list[ctypes.Array[ctypes.c_char]] = []
