"""Hand a mail to an SMTP server (RFC 5321), by the standard library, in a thread."""

import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.header import Header
from email.message import EmailMessage
from email.policy import Policy
from email.utils import format_datetime, parseaddr
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from anyio import to_thread
from typing_extensions import override

from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.escaping.characters import plain_line

SECONDS: Final = 30
SCHEMES: Final = {"smtp": 587, "smtps": 465}
MAX_SUBJECT_CHARACTERS: Final = 200


class LiteralHeader(str):
    """A header whose text is sent as it is: the library would decode apparent encoded words in it."""

    __slots__ = ("name",)

    def __new__(cls, name: str, text: str) -> "LiteralHeader":
        """Return the header of that name."""
        header = super().__new__(cls, text)
        header.name = name
        return header

    def fold(self, *, policy: Policy) -> str:
        """Return the lines of the header."""
        return mail_header(self.name, self, policy.linesep)


class LiteralAddress(LiteralHeader):
    """An address alone. It has no encoded words (RFC 2047, section 5): an apparent one is plain letters."""

    __slots__ = ()

    @override
    def fold(self, *, policy: Policy) -> str:
        """Return the line of the header."""
        return f"{self.name}: {self}{policy.linesep}"


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail in plain text. `id` makes its Message-ID: a mail that comes twice is known by it."""

    id: str
    to: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A server that mails are handed to. Without TLS, nothing but loopback gets a password."""

    host: str
    port: int
    is_tls: bool
    user: str
    password: str
    sender: str

    @classmethod
    def of(cls, url: str, sender: str) -> Self:
        """Read `smtp://user:password@host:587` (STARTTLS where it is offered) or `smtps://...`, TLS at once.

        Raises `InvalidInputError` for any other address, and without a sender.
        """
        try:
            parts = urlsplit(url)
            port = parts.port or SCHEMES[parts.scheme]
        except (ValueError, KeyError) as error:
            raise _malformed() from error
        if not parts.hostname or "@" not in sender or not sender.isprintable():
            raise _malformed()
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(parts.hostname, port, parts.scheme == "smtps", user, password, sender)

    async def send(self, mail: Mail) -> None:
        """Hand the mail over.

        Raises `smtplib.SMTPException` or `OSError` if it is not taken, `ValueError` if its address is none.
        """
        await to_thread.run_sync(self._send, self._message(mail), mail.to)

    def _message(self, mail: Mail) -> EmailMessage:
        if not mail.to.isprintable():
            msg = "an address has a linefeed or another control character"
            raise ValueError(msg)
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = LiteralAddress("To", mail.to)
        message["Subject"] = LiteralHeader("Subject", mail.subject[:MAX_SUBJECT_CHARACTERS])
        message["Date"] = format_datetime(utc_now())
        message["Message-ID"] = f"<{mail.id}@{self.sender.rpartition('@')[2].rstrip('>')}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        return message

    def _send(self, message: EmailMessage, to: str) -> None:
        server = self._connected()
        try:
            if self.user:
                server.login(self.user, self.password)
            server.send_message(message, parseaddr(self.sender)[1], [to])
        finally:
            # A mail that was taken is sent, however the server takes its leave.
            with suppress(smtplib.SMTPException, OSError):
                server.quit()

    def _connected(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self.is_tls:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=SECONDS, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=SECONDS)
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=context)
        elif self.user and not _is_loopback(self.host):
            server.close()
            raise smtplib.SMTPNotSupportedError("the server offers no TLS, and gets no password without")
        return server


def mail_header(name: str, text: str, line_end: str = "\r\n") -> str:
    """Return the header of a mail as it is sent (RFC 2047). Encoded words in the text are its letters."""
    line = plain_line(text)
    charset = "us-ascii" if line.isascii() and "=?" not in line else "utf-8"
    value = Header(line, charset, header_name=name).encode(linesep=line_end)
    return f"{name}: {value}{line_end}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _malformed() -> InvalidInputError:
    return InvalidInputError(
        "Mails need a server and a sender.",
        hint="Set DRIVE_SMTP_URL to smtp://user:password@host:587 and DRIVE_SMTP_FROM to an address.",
    )
