"""Checksums that clients send along with contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.http.headers.checksums import checked, checksums_of
from drive_server.kernel.errors import DamagedContentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

RIGHT = {
    "MD5": "900150983cd24fb0d6963f7d28e17f72",
    "SHA1": "a9993e364706816aba3e25717850c26c9cd0d89d",
    "SHA256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "SHA3-256": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
    "ADLER32": "024d0127",
    "CRC32": "352441c2",
}
"""Of `abc` (FIPS 180-4, FIPS 202, RFC 1321, RFC 1950)."""


async def passes(header: str) -> bool:
    """Say whether `abc` passes with this header."""

    async def content() -> AsyncIterator[bytes]:
        for piece in (b"a", b"", b"bc"):
            yield piece

    try:
        assert b"".join([chunk async for chunk in checked(content(), checksums_of({"oc-checksum": header}))]) == b"abc"
    except DamagedContentError:
        return False
    return True


@pytest.mark.parametrize("kind", RIGHT)
async def test_each_kind_that_clients_send_is_checked(kind: str) -> None:
    assert await passes(f"{kind}:{RIGHT[kind]}")
    assert await passes(f"{kind.lower()}:{RIGHT[kind].upper()}")
    assert not await passes(f"{kind}:{RIGHT[kind][:-1]}0")
    for malformed in (kind, f"{kind}:", f"{kind}:xyz", f"{kind}:{RIGHT[kind]}00"):
        assert not await passes(malformed), malformed


async def test_of_several_all_have_to_be_right_and_unknown_ones_do_no_harm() -> None:
    both = f"MD5:{RIGHT['MD5']} SHA1:{RIGHT['SHA1']}"
    assert await passes(both)
    assert await passes("ADLER32:24d0127"), "leading zeros may be left out"
    assert not await passes(both[:-1] + "0")
    for unknown in ("", "XXH64:0", "BLAKE9:00 nothing", "???", f"XXH64:0 {both}"):
        assert await passes(unknown), unknown
