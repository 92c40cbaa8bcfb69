"""The certificate of a server that serves HTTPS by itself, checked before anything listens."""

import os
import ssl
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message

MARKS: Final = (b"BEGIN PRIVATE KEY", b"BEGIN RSA PRIVATE KEY", b"BEGIN EC PRIVATE KEY", b"BEGIN ENCRYPTED PRIVATE KEY")


@dataclass(frozen=True, slots=True)
class ServerCertificate:
    """A certificate that is ready to serve: `pem` is the server's own, `names` are the hosts that it is for."""

    context: ssl.SSLContext
    pem: str
    names: tuple[str, ...]
    ends: datetime

    def is_for(self, host: str) -> bool:
        """Say whether a client accepts it for a host; `*` stands for one label (RFC 6125, section 6.4.3)."""
        above = host.partition(".")[2]
        return host in self.names or (bool(above) and f"*.{above}" in self.names and not _is_address(host))


def open_certificate(certificate: str, key: str) -> ServerCertificate | None:
    """Return the certificate in these files, None if none is named. Raises `InvalidInputError`, with one sentence."""
    if not certificate and not key:
        return None
    if not certificate or not key:
        raise InvalidInputError(Message.of("tls_half"))
    chain, secret = Path(certificate).expanduser(), Path(key).expanduser()
    own = _first_certificate(chain)
    _require_pair(own, chain, secret)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(chain, secret)
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).replace("_", " ").lower()
        raise InvalidInputError(Message.of("tls_refused", path=str(chain), reason=reason)) from error
    return ServerCertificate(context, own.public_bytes(Encoding.PEM).decode(), _names_of(own), own.not_valid_after_utc)


def _first_certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(_read(path))[0]
    except ValueError as error:
        raise InvalidInputError(Message.of("tls_no_certificate", path=str(path))) from error


def _require_pair(own: x509.Certificate, chain: Path, secret: Path) -> None:
    data = _read(secret)
    if not any(mark in data for mark in MARKS):
        raise InvalidInputError(Message.of("tls_no_key", path=str(secret)))
    try:
        key = load_pem_private_key(data, None)
    except TypeError as error:  # it is encrypted
        raise InvalidInputError(Message.of("tls_key_locked", path=str(secret))) from error
    except ValueError as error:
        raise InvalidInputError(Message.of("tls_no_key", path=str(secret))) from error
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if key.public_key().public_bytes(*form) != own.public_key().public_bytes(*form):
        raise InvalidInputError(Message.of("tls_mismatch", key=str(secret), certificate=str(chain)))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise InvalidInputError(Message.of("tls_unreadable", path=str(path), reason=reason)) from error


def _names_of(own: x509.Certificate) -> tuple[str, ...]:
    try:
        found = own.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    hosts = (name.lower() for name in found.get_values_for_type(x509.DNSName))
    return (*hosts, *(str(address) for address in found.get_values_for_type(x509.IPAddress)))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
