"""`python -m tests.conformance.webdav.install`: installs the programs that the drive is tried with, if absent.

They are packages of Debian: litmus (WebDAV's conformance suite), rclone, fuse3 for what rclone mounts; and zsh and
fish, in which the command line is completed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

PROGRAMS = {"litmus": "litmus", "rclone": "rclone", "fusermount3": "fuse3", "zsh": "zsh", "fish": "fish"}


def install(programs: Mapping[str, str]) -> None:
    """Install the packages of those programs that are not there; where that is not possible, name them."""
    packages = [package for program, package in programs.items() if shutil.which(program) is None]
    if not packages:
        return
    apt = shutil.which("apt-get")
    if apt is None:
        sys.exit(f"The tests need these programs: {', '.join(packages)}. Install them, and try again.")
    command = [apt, "install", "--yes", "--no-install-recommends", *packages]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if subprocess.run([*prefix, *command], env=environment, check=False).returncode:
        subprocess.run([*prefix, apt, "update"], env=environment, check=True)
        subprocess.run([*prefix, *command], env=environment, check=True)


if __name__ == "__main__":
    install(PROGRAMS)
