"""Runs one program with limits, and ends it with all its children.

`python -I -S supervisor.py CONTROL MEMORY PROCESSES COMMAND...`: CONTROL is the number of a pipe that the service holds
open; when it is closed, all ends. MEMORY is the most that the program and its children may have resident together, in
bytes, PROCESSES how many they may be. The program has standard input and output for itself. Its own standard error
carries a report, as JSON.

It is a program of its own because only a parent can do it: children that leave the program's process group, or outlive
it, become its own children (Linux), and it goes on when the service is killed. It imports the standard library only.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

DATA_BYTES = 4 << 30
"""Private memory of one process; programs in JavaScript reserve much more than they use."""
FILE_BYTES = 1 << 30
CPU_SECONDS = 3600
OPEN_FILES = 4096
USER_PROCESSES = 10_000
"""Of all programs of the user, with their threads: one that multiplies between two looks stops there."""
NICENESS = 5
LOOK_SECONDS = 0.5
END_SECONDS = 1.0
TAIL_BYTES = 4096
PIECE_BYTES = 65_536
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
HAS_PROC = Path("/proc/self/task").is_dir()
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIMITS = (
    (resource.RLIMIT_DATA, DATA_BYTES),
    (resource.RLIMIT_FSIZE, FILE_BYTES),
    (resource.RLIMIT_CPU, CPU_SECONDS),
    (resource.RLIMIT_NOFILE, OPEN_FILES),
    (resource.RLIMIT_NPROC, USER_PROCESSES),
    (resource.RLIMIT_CORE, 0),
)
PAGE_BYTES = resource.getpagesize()


def control_process(option: int, value: int) -> None:
    """Set an option of this process; only Linux has them."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def begin() -> None:
    """Limit the program, in its process before it starts."""
    os.setsid()
    os.nice(NICENESS)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    control_process(PR_SET_PDEATHSIG, signal.SIGKILL)
    for kind, most in LIMITS:
        with contextlib.suppress(ValueError, OSError):  # not every system can limit it, nor raise a lower limit
            resource.setrlimit(kind, (most, most))


def children_of(process_id: int) -> list[int]:
    """Return the children of all threads of a process; none where there is no /proc, or once it has ended."""
    found: list[int] = []
    for path in Path(f"/proc/{process_id}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def descendants() -> list[int]:
    """Return all processes below this one, parents first."""
    found = children_of(os.getpid())
    for process_id in found:
        found += children_of(process_id)
    return found


def resident_bytes(process_id: int) -> int:
    """Return the resident memory of a process; 0 once it has ended."""
    try:
        return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


def excess(memory: int, most: int) -> str:
    """Return the limit that the program and its children are over: `memory`, `processes`, or nothing."""
    processes = descendants()
    if len(processes) > most:
        return "processes"
    return "memory" if sum(map(resident_bytes, processes)) > memory else ""


def signal_all(program: "subprocess.Popen[bytes]", number: int) -> bool:
    """Signal all descendants, without /proc the program's group; say whether there were any."""
    if not HAS_PROC:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, number)
    processes = descendants()
    for process_id in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process_id, number)
    return bool(processes)


def reap() -> None:
    """Take note of children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end(program: "subprocess.Popen[bytes]", *, at_once: bool) -> None:
    """End the program and all its children: first with a chance to tidy up, then without."""
    until = time.monotonic() + (0 if at_once else END_SECONDS)
    signal_all(program, signal.SIGTERM)
    program.poll()
    while descendants() and time.monotonic() < until:
        time.sleep(0.02)
        program.poll()
        reap_others(program)
    while signal_all(program, signal.SIGSTOP) or program.poll() is None:
        signal_all(program, signal.SIGKILL)
        time.sleep(0.01)
        program.poll()
        reap_others(program)


def reap_others(program: "subprocess.Popen[bytes]") -> None:
    """Take note of orphans that have ended, once the program itself has."""
    if program.returncode is not None:
        reap()


def watch(program: "subprocess.Popen[bytes]", control: int, memory: int, most: int) -> tuple[str, bytes]:
    """Wait until the program ends, breaks a limit, or has to end; return the reason, and the end of its output."""
    assert program.stderr  # noqa: S101 - it is a pipe
    errors, tail, next_look = program.stderr.fileno(), b"", 0.0
    sources = {control, errors}
    while True:
        ready, _, _ = select.select(sources, [], [], LOOK_SECONDS)
        if control in ready:
            return "closed", tail
        if errors in ready:
            piece = os.read(errors, PIECE_BYTES)
            tail = (tail + piece)[-TAIL_BYTES:]
            if not piece:
                sources.discard(errors)
        if program.poll() is not None:
            return "ended", tail + rest_of(errors, sources)
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + LOOK_SECONDS
            if limit := excess(memory, most):
                return limit, tail


def rest_of(errors: int, sources: set[int]) -> bytes:
    """Return the bytes left in the pipe of a program that has ended; its children may still hold it open."""
    ready = errors in sources and select.select([errors], [], [], 0)[0]
    return os.read(errors, PIECE_BYTES)[-TAIL_BYTES:] if ready else b""


def main(control: int, memory: int, most: int, command: list[str]) -> None:
    """Run the command, and report."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)  # the pipe says when to end
    control_process(PR_SET_CHILD_SUBREAPER, 1)
    os.set_inheritable(control, False)
    program = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=begin)  # noqa: S603, PLW1509
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    why, tail = watch(program, control, memory, most)
    end(program, at_once=why in {"memory", "processes"})
    report = {"why": why, "status": program.returncode, "errors": tail[-TAIL_BYTES:].decode(errors="replace")}
    sys.stderr.write(json.dumps(report))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
