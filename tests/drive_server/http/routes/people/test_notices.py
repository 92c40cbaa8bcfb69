from __future__ import annotations

import asyncio
import re
import smtplib
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from drive_server.kernel.clock import utc_now
from drive_server.services.mail import outbox as outbox_module
from drive_server.services.mail.outbox import FIRST_PAUSE
from drive_server.services.mail.smtp import Mail, SmtpServer
from drive_server.storage.tables.people import UserRow
from tests.drive_server.http.service import Service, running
from tests.fakes.raw_server import listening

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from email.message import EmailMessage

    import httpx

    from drive_server.kernel.settings import DriveSettings

BOB = "bob@example.com"
NOTICES = "/api/notices"


class MailServer:
    """An SMTP server that takes mails, or answers the next recipients with `refusals`."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.received: list[bytes] = []
        self.refusals: list[str] = []
        self.came = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n")
        while line := (await reader.readline()).strip().upper():
            if line.startswith(b"DATA"):
                writer.write(b"354 go on\r\n")
                data = await reader.readuntil(b"\r\n.\r\n")
                self.received.append(data)
                self.mails.append(message_from_bytes(data[:-5], policy=policy.default))  # pyright: ignore[reportArgumentType] - the default policy makes this kind
                self.came.set()
            refused = self.refusals.pop(0) if line.startswith(b"RCPT") and self.refusals else ""
            answer = "221 bye" if line.startswith(b"QUIT") else "250 fine"
            writer.write(f"{refused or answer}\r\n".encode())
            if line.startswith(b"QUIT"):
                break
        writer.close()


@asynccontextmanager
async def mail_server() -> AsyncGenerator[tuple[MailServer, str]]:
    server = MailServer()
    async with listening(server.serve) as listener:
        yield server, f"smtp://127.0.0.1:{listener.sockets[0].getsockname()[1]}"


@pytest.fixture
async def mails() -> AsyncIterator[tuple[MailServer, str]]:
    async with mail_server() as found:
        yield found


@pytest.fixture
async def mailing(drive_settings: DriveSettings, mails: tuple[MailServer, str]) -> AsyncIterator[Service]:
    changes = {"smtp_url": SecretStr(mails[1]), "smtp_from": "drive@example.com"}
    async with running(drive_settings.model_copy(update=changes)) as service:
        yield service


async def folder(client: httpx.AsyncClient, name: str = "Reports") -> dict[str, Any]:
    return (await client.post("/api/drive/items", json={"kind": "folder", "name": name})).json()


async def share(client: httpx.AsyncClient, item: dict[str, Any], email: str = BOB) -> None:
    made = await client.post(f"/api/drive/items/{item['id']}/shares", json={"email": email})
    assert made.status_code == 201, made.text


async def test_who_gets_a_share_has_a_notice_until_it_is_taken_back(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    item = await folder(owner_client)
    await share(owner_client, item)
    got = (await bobs_client.get(NOTICES, params={"lang": "zh"})).json()
    await bobs_client.post(f"{NOTICES}/read", json={"ids": [got["items"][0]["id"], 99]})
    read = (await bobs_client.get(NOTICES)).json()
    unread = (await bobs_client.get(NOTICES, params={"unread": True})).json()
    await owner_client.patch(f"/api/drive/items/{item['id']}/shares/{BOB}", json={"role": "editor"})
    changed = (await bobs_client.get(NOTICES)).json()
    await owner_client.delete(f"/api/drive/items/{item['id']}/shares/{BOB}")
    gone = (await bobs_client.get(NOTICES)).json()

    assert (got["unread"], len(got["items"]), got["items"][0]["item"]["name"]) == (1, 1, "Reports")
    assert got["items"][0]["text"] == "me@localhost 与你共享了“Reports”，你的角色是查看者。"
    assert (read["unread"], read["items"][0]["read_at"] is None, unread["items"]) == (0, False, [])
    assert changed["items"][0]["text"] == "me@localhost shared 'Reports' with you as editor."
    assert (gone["items"], (await owner_client.get(NOTICES)).json()["items"]) == ([], [])


async def test_a_notice_waits_for_who_has_no_account_yet_and_comes_to_each_member_of_a_group(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    await share(owner_client, await folder(owner_client))
    async with service.client(await service.add_person(BOB)) as bob:
        await owner_client.post("/api/groups", json={"name": "All", "members": [BOB, "me@localhost"]})
        await share(owner_client, await folder(owner_client, "Plans"), "group:all")
        first = (await bob.get(NOTICES, params={"limit": 1})).json()
        second = (await bob.get(NOTICES, params={"limit": 1, "cursor": first["cursor"]})).json()
        await bob.post(f"{NOTICES}/read", json={})
        assert (await bob.get(NOTICES)).json()["unread"] == 0
    names = [page["items"][0]["item"]["name"] for page in (first, second)]
    assert (names, second["cursor"]) == (["Plans", "Reports"], None)
    assert (await owner_client.get(NOTICES)).json()["items"] == []


async def test_a_page_hears_of_a_notice_at_once_and_when_it_was_read_or_is_none_any_more(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    item = await folder(owner_client)
    async with bobs_client.stream("GET", f"{NOTICES}/events") as stream:
        lines = stream.aiter_lines()
        seen = [line async for line in _until(lines, '"unread":0')]
        await share(owner_client, item)
        seen += [line async for line in _until(lines, '"unread":1')]
        assert (await owner_client.delete(f"/api/drive/items/{item['id']}/shares/{BOB}")).is_success
        seen += [line async for line in _until(lines, '"unread":0')]
        other = await folder(owner_client, "Other")
        await share(owner_client, other)
        seen += [line async for line in _until(lines, '"unread":1')]
        await bobs_client.post(f"{NOTICES}/read", json={})
        seen += [line async for line in _until(lines, '"unread":0')]
    assert seen.count("event: notices") == 5


async def _until(lines: AsyncIterator[str], text: str) -> AsyncIterator[str]:
    async for line in lines:
        yield line
        if text in line:
            return


async def test_a_mail_is_sent_once_in_the_persons_language_and_only_to_who_has_an_account(
    mailing: Service, mails: tuple[MailServer, str]
) -> None:
    outbox = mailing.drive.outbox
    async with mailing.client() as owner, mailing.client(await mailing.add_person(BOB)) as bob:
        await bob.patch("/api/auth/me", json={"language": "zh"})
        item = await folder(owner, "Reports")
        await share(owner, item)
        await share(owner, item, "eve@example.com")
        await owner.delete(f"/api/drive/items/{item['id']}/shares/{BOB}")
        await share(owner, item)
        assert await outbox.send_due() == 1
        assert await outbox.send_due() == 0
        later = await folder(owner, "Later")
        await share(owner, later)
        await owner.delete(f"/api/drive/items/{later['id']}/shares/{BOB}")
        assert await outbox.send_due() == 0
    (mail,) = mails[0].mails
    assert (mail["To"], mail["From"], mail["Subject"]) == (BOB, "drive@example.com", "me@localhost 与你共享了“Reports”")
    assert "你的角色是查看者" in mail.get_content()


async def test_a_mail_that_is_not_taken_is_sent_later_and_one_that_never_will_be_is_given_up(
    mailing: Service, mails: tuple[MailServer, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, server = mailing.drive.outbox, mails[0]
    await mailing.add_person(BOB)
    async with mailing.client() as owner:
        for name, refusal, sent in (("A", "451 later", [0, 1]), ("B", "550 nobody", [0, 0])):
            server.refusals = [refusal]
            await share(owner, await folder(owner, name))
            now = utc_now()
            assert [await outbox.send_due()] == sent[:1]
            with monkeypatch.context() as patched:
                patched.setattr(outbox, "_clock", lambda now=now: now + 2 * FIRST_PAUSE)
                assert [await outbox.send_due()] == sent[1:]
    assert [mail["Subject"] for mail in server.mails] == ["me@localhost shared 'A' with you"]


INJECTIONS = [
    "=?utf-8?q?Hi=0d=0aBcc=3A_eve=40example.com=0d=0a=0d=0aNew_login=3A_http=3A=2F=2Fevil.example=2F?=",
    "=?utf-8?b?SGkNCkJjYzogZXZlQGV4YW1wbGUuY29tDQoNCk5ldyBsb2dpbjogaHR0cDovL2V2aWwuZXhhbXBsZS8=?=",
    "a =?utf-8?q?=0d=0aX-Evil=3A_1?= =?utf-8?q?=0aX-Evil=3A_1?= b",
    "=?utf-8?q?" + "=0d=0a" * 38 + "?=",
    "New login www.evil.example",
    "sign in at evil.com now",
    "http：evil.example",
    "报告 =?gbk?q?=0d=0aX-Evil=3A_1?=",
    "שלום evil.example",
]


@pytest.mark.parametrize("name", INJECTIONS)
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_name_in_a_mail_is_neither_a_header_nor_a_line_nor_a_link(
    mailing: Service, mails: tuple[MailServer, str], name: str, language: str
) -> None:
    async with mailing.client() as owner, mailing.client(await mailing.add_person(BOB)) as bob:
        await bob.patch("/api/auth/me", json={"language": language})
        await share(owner, await folder(owner, name))
        assert await mailing.drive.outbox.send_due() == 1
        await share(owner, await folder(owner, "plain"))
        assert await mailing.drive.outbox.send_due() == 1
    hostile, harmless = mails[0].mails
    assert hostile.keys() == harmless.keys()
    assert name.split()[0] in str(hostile["Subject"]) or "[.]" in str(hostile["Subject"]) or len(name) > 120
    lines, expected = (mail.get_content().splitlines() for mail in (hostile, harmless))
    assert (len(lines), lines[1:]) == (len(expected), expected[1:])
    assert not re.search(r"evil\.|www\.|https?:", lines[0] + str(hostile["Subject"]))


@pytest.mark.parametrize(
    "name", ["报告 2026.pdf", "a=?b.txt", "v1.2 plan (final).docx", "notes.md", "שלום.txt", "Mr.Smith"]
)
async def test_an_ordinary_name_stands_in_a_mail_as_it_is(
    mailing: Service, mails: tuple[MailServer, str], name: str
) -> None:
    await mailing.add_person(BOB)
    async with mailing.client() as owner:
        await share(owner, await folder(owner, name))
        assert await mailing.drive.outbox.send_due() == 1
    (mail,) = mails[0].mails
    assert f"'{name}'" in str(mail["Subject"])
    assert name in mail.get_content()


@pytest.mark.parametrize("local", ["=?utf-8?q?a=0d=0abcc?=", "=?us-ascii?q?=2c?="])
async def test_an_address_is_a_recipient_to_the_letter(mails: tuple[MailServer, str], local: str) -> None:
    server = SmtpServer.of(mails[1], "drive@example.com")
    await server.send(Mail("1", f"{local}@example.com", "Hi", "Words"))
    assert f"\r\nTo: {local}@example.com\r\n".encode() in mails[0].received[0]


async def test_no_name_adds_a_header_and_no_password_goes_out_without_tls(mails: tuple[MailServer, str]) -> None:
    server = SmtpServer.of(mails[1], "drive@example.com")
    await server.send(Mail("1", BOB, "Hi\r\nBcc: eve@example.com", "Words"))
    with pytest.raises(ValueError, match="linefeed"):
        await server.send(Mail("2", f"{BOB}\r\nBcc: eve@example.com", "Hi", "Words"))
    assert [(mail["Subject"], mail["Bcc"]) for mail in mails[0].mails] == [("Hi Bcc: eve@example.com", None)]
    away = SmtpServer.of(mails[1].replace("smtp://", "smtp://me:secret@"), "drive@example.com")
    object.__setattr__(away, "host", "localhost.")
    with pytest.raises((smtplib.SMTPException, OSError)):
        await away.send(Mail("3", BOB, "Hi", "Words"))


async def test_a_mail_that_can_not_be_made_or_addressed_holds_up_no_other(
    mailing: Service, mails: tuple[MailServer, str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox, people = mailing.drive.outbox, (BOB, "eve@example.com", "dora@example.com")
    for email in people:
        await mailing.add_person(email)
    kinds = dict(zip(people, ("other version", "password", "password"), strict=True))
    monkeypatch.setattr(outbox_module, "POLL_SECONDS", 0.01)
    async with mailing.drive.database.write() as session:
        for email, kind in kinds.items():
            user_id = await session.scalar(select(UserRow.id).where(UserRow.email == email))
            await outbox.put(session, str(user_id), kind, {}, email)
        await session.execute(update(UserRow).where(UserRow.email == people[1]).values(email="eve\n@example.com"))
    outbox.wake()
    await asyncio.wait_for(mails[0].came.wait(), 60)
    for said in ("can't be sent: an address has", "A mail could not be made"):
        while said not in caplog.text:
            async with mailing.drive.database.read():  # the other tasks go on meanwhile
                pass

    assert [mail["To"] for mail in mails[0].mails] == [people[2]]


async def test_what_a_program_deletes_for_good_without_asking_is_named_as_that(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    for client in (owner_client, bobs_client):
        for name in ("One", "Two", "Three"):
            item = await folder(client, name)
            await client.post(f"/api/drive/items/{item['id']}/trash")
            if name == "One":
                assert (await client.delete(f"/api/drive/items/{item['id']}")).is_success
        assert (await client.delete("/api/drive/trash")).is_success
    told = (await bobs_client.get(NOTICES)).json()
    chinese = (await bobs_client.get(NOTICES, params={"lang": "zh"})).json()
    audit = (await bobs_client.get("/api/drive/changes", params={"limit": 50})).json()["changes"]
    sentence = "Deleted 'One' with 0 items in it for good; this can't be taken back. A program did so with the key "
    assert [one["text"].partition(" A program")[0] for one in told["items"]] == [
        "Deleted 2 items in the trash for good; this can't be taken back.",
        "Deleted 'One' with 0 items in it for good; this can't be taken back.",
    ]
    assert [(one["kind"], one["item"], one["by"]) for one in told["items"]] == [("deleted", None, BOB)] * 2
    assert all("事先没有询问任何人" in one["text"] for one in chinese["items"])
    assert told["unread"] == 2
    assert [one["summary"] for one in audit if one["summary"].startswith(sentence)]
    await bobs_client.post(f"{NOTICES}/read", json={"ids": [told["items"][0]["id"]]})
    assert (await bobs_client.get(NOTICES, params={"unread": True})).json()["unread"] == 1

    # A person at this computer, or in the page, is asked there.
    assert (await owner_client.get(NOTICES)).json()["items"] == []
    theirs = (await owner_client.get("/api/drive/changes", params={"limit": 50})).json()["changes"]
    assert not [one for one in theirs if "program" in one["summary"]]


async def test_the_owner_has_a_notice_and_a_mail_of_who_leaves_until_they_are_back(
    mailing: Service, mails: tuple[MailServer, str]
) -> None:
    outbox = mailing.drive.outbox
    async with mailing.client() as owner, mailing.client(await mailing.add_person(BOB)) as bob:
        item = await folder(owner)
        await share(owner, item)
        await outbox.send_due()
        assert (await owner.get(NOTICES)).json()["items"] == []
        left = await bob.delete(f"/api/drive/items/{item['id']}/shares/{BOB}")
        assert left.is_success, left.text
        assert (await bob.get(NOTICES)).json()["items"] == []
        got = (await owner.get(NOTICES, params={"lang": "zh"})).json()
        (notice,) = got["items"]
        assert (got["unread"], notice["kind"], notice["by"], notice["item"]["id"]) == (1, "left", BOB, item["id"])
        assert notice["text"] == f"{BOB} 退出了你共享的“Reports”。"
        (notice,) = (await owner.get(NOTICES)).json()["items"]
        assert notice["text"] == f"{BOB} left 'Reports', which you shared."
        assert await outbox.send_due() == 1
        assert mails[0].mails[-1]["Subject"] == f"{BOB} left 'Reports'"

        await share(owner, item)
        assert (await owner.get(NOTICES)).json() == {"items": [], "unread": 0, "cursor": None}


async def test_each_of_two_who_leave_a_share_has_a_notice_and_one_who_comes_back_takes_theirs_along(
    mailing: Service,
) -> None:
    carol = "carol@example.com"
    people = {BOB: await mailing.add_person(BOB), carol: await mailing.add_person(carol)}
    async with mailing.client() as owner:
        item = await folder(owner)
        shares = f"/api/drive/items/{item['id']}/shares"
        for email, key in people.items():
            assert (await owner.post(shares, json={"email": email, "role": "viewer"})).is_success
            async with mailing.client(key) as client:
                assert (await client.delete(f"{shares}/{email}")).is_success
        got = (await owner.get(NOTICES)).json()
        assert ([one["by"] for one in got["items"]], got["unread"]) == ([carol, BOB], 2)
        await owner.post(shares, json={"email": carol, "role": "viewer"})
        assert [one["by"] for one in (await owner.get(NOTICES)).json()["items"]] == [BOB]


async def test_one_who_shares_an_item_again_makes_no_second_notice(mailing: Service) -> None:
    async with mailing.client() as owner, mailing.client(await mailing.add_person(BOB)) as bob:
        item = await folder(owner)
        await share(owner, item)
        await owner.delete(f"/api/drive/items/{item['id']}/shares/{BOB}")
        await share(owner, item)
        assert (await bob.get(NOTICES)).json()["unread"] == 1
