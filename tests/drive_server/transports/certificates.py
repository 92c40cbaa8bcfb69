"""Certificates that a test makes, with their keys, as files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Files:
    """The files of a certificate and of its key; `key` is in memory too."""

    certificate: Path
    secret: Path
    key: EllipticCurvePrivateKey


def made(folder: Path, *hosts: str, days: int = 30, password: str = "") -> Files:
    """Make a certificate of its own for these hosts (127.0.0.1 without any), which ends after so many days."""
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "drive of a test")])
    names = x509.SubjectAlternativeName([_name_of(host) for host in hosts or ("127.0.0.1",)])
    ends = datetime.now(UTC) + timedelta(days=days)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ends - timedelta(days=60))
        .not_valid_after(ends)
        .add_extension(names, critical=False)
        .sign(key, SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    files = Files(folder / "certificate.pem", folder / "key.pem", key)
    files.certificate.write_bytes(built.public_bytes(Encoding.PEM))
    locked: KeySerializationEncryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    files.secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    return files


def _name_of(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)
