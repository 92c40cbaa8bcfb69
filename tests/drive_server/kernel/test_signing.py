import pytest

from drive_server.kernel.signing import Signer

SIGNER = Signer(b"k" * 32)


@pytest.mark.parametrize("payload", [b"", b"\x00\xff", "文件".encode(), b"x" * 5000])
def test_a_token_gives_its_payload_back(payload: bytes) -> None:
    assert SIGNER.verify("link", SIGNER.sign("link", payload)) == payload


def test_a_token_for_one_purpose_or_of_another_drive_is_refused() -> None:
    token = SIGNER.sign("link", b"payload")
    assert SIGNER.verify("cursor", token) is None
    assert Signer(b"o" * 32).verify("link", token) is None


@pytest.mark.parametrize("spoiled", ["", "A", "=", "é", "a" * 10_000, "\ud800", "../../x"])
def test_what_is_no_token_is_refused_without_an_error(spoiled: str) -> None:
    assert SIGNER.verify("link", spoiled) is None


def test_every_other_spelling_of_a_token_is_refused() -> None:
    token = SIGNER.sign("link", b"payload")
    changed = [
        token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :] for place in range(len(token))
    ]
    assert [other for other in [*changed, token + "=", token + "A", token[:-1]] if SIGNER.verify("link", other)] == []
