"""Signing in with the help of others: the organisation's issuer, and a mail to who forgot the password."""

from __future__ import annotations

import asyncio
import re
from contextlib import closing
from html import escape
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import expect
from pydantic import SecretStr
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.drive_server.http.pages.test_oidc import BOB, Provider
from tests.drive_server.http.routes.people.test_notices import MailServer, mail_server
from tests.drive_server.issuer import issuing
from tests.fakes.raw_server import listening

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.requests import Request

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

PASSWORD: Final = "a long enough password"
PATIENCE: Final = 20.0
"""Seconds in which a mail comes."""


class Elsewhere(NamedTuple):
    """The OpenID issuer and the mail server that the service is set to use."""

    portal: BlockingPortal
    provider: Provider
    mails: MailServer
    smtp_url: str

    def address_in_mail(self) -> str:
        """Wait for a mail, and return the path of the address in it."""
        self.portal.call(asyncio.wait_for, self.mails.came.wait(), PATIENCE)
        (path,) = re.findall(r"http\S+(/password/\S+)", self.mails.mails[-1].get_content())
        return path


async def ask(request: Request) -> HTMLResponse:
    """The issuer's page: the person is known there, and agrees."""
    asked = request.query_params
    issuer = str(request.base_url).rstrip("/")
    back = f"{asked['redirect_uri']}?{urlencode({'code': 'code-1', 'state': asked['state'], 'iss': issuer})}"
    return HTMLResponse(f'<title>Issuer</title><a href="{escape(back)}">I agree</a>')


@pytest.fixture(scope="module")
def elsewhere() -> Generator[Elsewhere]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(issuing(Route("/authorize", ask))) as issuer,
        portal.wrap_async_context_manager(mail_server()) as (mails, smtp_url),
    ):
        provider = Provider(issuer)
        with portal.wrap_async_context_manager(listening(provider.serve)) as listener:
            tokens = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/token"
            issuer.metadata = {"authorization_endpoint": f"{issuer.url}/authorize", "token_endpoint": tokens}
            yield Elsewhere(portal, provider, mails, smtp_url)


@pytest.fixture(scope="module")
def settings(elsewhere: Elsewhere) -> dict[str, Any]:
    return {
        "oidc_issuer": elsewhere.provider.issuer.url,
        "oidc_client_id": "drive",
        "oidc_create_users": True,
        "smtp_url": SecretStr(elsewhere.smtp_url),
        "smtp_from": "drive@example.com",
    }


def test_the_issuer_of_the_organisation_signs_in(visits: Visits, elsewhere: Elsewhere) -> None:
    page = visits.open(signed_in=False)
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    agree = page.get_by_role("link", name="I agree")
    expect(agree).to_be_visible()
    elsewhere.provider.asked = dict(parse_qsl(urlsplit(page.url).query))
    agree.click()
    page.get_by_role("button", name=f"Account of {BOB}").click()
    expect(page.get_by_role("menuitem", name="Sign out")).to_be_visible()
    assert all(elsewhere.provider.issuer.url in url for url in visits.foreign)
    visits.foreign.clear()


def test_who_forgot_the_password_gets_a_mail_with_an_address_for_a_new_one(
    visits: Visits, owner: Person, elsewhere: Elsewhere
) -> None:
    with closing(owner.add_new("lena")) as lena:
        page = visits.open(signed_in=False)
        page.get_by_role("button", name="I forgot my password").click()
        expect(page.get_by_role("alert")).to_have_text("Write your email first.")
        page.get_by_label("Email").fill(lena.email)
        page.get_by_role("button", name="I forgot my password").click()
        expect(page.get_by_text("a mail with an address for a new password is on its way")).to_be_visible()
        page.goto(elsewhere.address_in_mail())
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_role("button", name="Set it, and log in").click()
        expect(page.get_by_role("button", name=f"Account of {lena.email}")).to_be_visible()
