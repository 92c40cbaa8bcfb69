"""Secrets at rest: encrypted with a key that only the service's account may read."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from api.errors import SecretsKeyError
from api.servers.secrets import KEY_FILE, Secrets


def test_a_sealed_value_is_not_the_value_and_opens_again(tmp_path: Path) -> None:
    secrets = Secrets.of(tmp_path, "")
    sealed = secrets.seal("Bearer 钥匙")
    assert "Bearer" not in sealed
    assert secrets.open({"Authorization": sealed, "unset": ""}) == {"Authorization": "Bearer 钥匙"}


def test_the_key_is_a_private_file_that_stays(tmp_path: Path) -> None:
    sealed = Secrets.of(tmp_path, "").seal("x")
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert Secrets.of(tmp_path, "").open({"a": sealed}) == {"a": "x"}
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_services_that_start_at_once_have_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(Secrets.of, [tmp_path] * 8, [""] * 8))
    sealed = made[0].seal("x")
    assert all(secrets.open({"a": sealed}) == {"a": "x"} for secrets in made)


def test_a_key_of_the_settings_is_changed_by_putting_a_new_one_in_front(tmp_path: Path) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    sealed = Secrets.of(tmp_path, old).seal("x")
    assert Secrets.of(tmp_path, f"{new}, {old}").open({"a": sealed}) == {"a": "x"}
    assert not (tmp_path / KEY_FILE).exists()
    resealed = Secrets.of(tmp_path, f"{new},{old}").seal("y")
    assert Secrets.of(tmp_path, new).open({"a": resealed, "b": sealed}) == {"a": "y"}


@pytest.mark.parametrize("key", ["short", "钥匙", "A" * 44])
def test_a_key_that_is_none_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(SecretsKeyError) as refused:
        Secrets.of(tmp_path, key)
    assert key not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_damaged_key_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).touch(mode=0o600)
    with pytest.raises(SecretsKeyError):
        Secrets.of(tmp_path, "")
