from __future__ import annotations

import os

import pytest

from drive_server.knowledge.index.lance import store_environment


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("/data/index", {"LANCE_LOG", "TMPDIR"}),
        ("s3://bucket/index", {"LANCE_LOG", "TMPDIR", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY"}),
        ("gs://bucket/index", {"LANCE_LOG", "TMPDIR", "GOOGLE_SERVICE_ACCOUNT", "HTTPS_PROXY"}),
        ("memory://", {"LANCE_LOG", "TMPDIR", "HTTPS_PROXY"}),
    ],
)
def test_lancedb_gets_the_credentials_of_its_own_store_alone(
    monkeypatch: pytest.MonkeyPatch, url: str, names: set[str]
) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name in (
        "LANCE_LOG",
        "TMPDIR",
        "AWS_SECRET_ACCESS_KEY",
        "GOOGLE_SERVICE_ACCOUNT",
        "HTTPS_PROXY",
        "AGENT_SECRETS_KEY",
    ):
        monkeypatch.setenv(name, "x")
    assert store_environment(url).keys() == names
