from __future__ import annotations

import hmac
import json
import socket
import time
from base64 import urlsafe_b64encode
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from starlette.responses import JSONResponse, PlainTextResponse

from drive_server.connect import open_drive
from drive_server.kernel.access import Actor
from drive_server.kernel.errors import DriveError, InvalidInputError, UnauthenticatedError, UnavailableError
from drive_server.services.identity.tokens import TokenService
from tests.drive_server.actors import local_owner, new_person
from tests.drive_server.issuer import AUDIENCE, Issuer, issuing, new_key, public_jwk
from tests.fakes.clock import SettableClock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from drive_server.drive import Drive
    from drive_server.kernel.settings import DriveSettings

# The times of parameters are taken when the tests are collected, and a run may take long.
A_DAY = 86_400


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as issuer:
        yield issuer


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
async def tokens(issuer: Issuer, drive_settings: DriveSettings, clock: SettableClock) -> AsyncIterator[TokenService]:
    service = TokenService(drive_settings.model_copy(update={"jwt_issuer": issuer.url}), clock)
    yield service
    await service.close()


@asynccontextmanager
async def drive_of(issuer: Issuer, settings: DriveSettings, **changes: Any) -> AsyncGenerator[Drive]:
    async with open_drive(settings.model_copy(update={"jwt_issuer": issuer.url, **changes})) as drive:
        yield drive


async def refused(tokens: TokenService, token: str) -> str:
    """Return why a token is not taken."""
    with pytest.raises(UnauthenticatedError) as caught:
        await tokens.verify(token)
    assert caught.value.message == "This token is not valid."
    return caught.value.hint


def encoded(part: Any) -> str:
    data = part if isinstance(part, bytes) else json.dumps(part).encode()
    return urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.mark.parametrize("algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"])
async def test_a_token_signed_by_the_issuer_says_who_comes(
    issuer: Issuer, tokens: TokenService, algorithm: str
) -> None:
    issuer.rotate("key", algorithm)
    exp = int(time.time()) + 100

    claims = await tokens.verify(issuer.token(exp=exp))

    assert (claims.email, claims.client) == ("alice@example.com", "editor")
    assert claims.scopes == {"read", "write"}
    assert claims.expires_at.timestamp() == exp


async def test_a_key_that_states_no_algorithm_fits_those_of_its_kind(issuer: Issuer, tokens: TokenService) -> None:
    issuer.rotate("key", "PS384")
    del issuer.keys[0]["alg"], issuer.keys[0]["use"]

    assert (await tokens.verify(issuer.token())).email == "alice@example.com"


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "drive:read drive:delete email"}, {"read", "delete"}),
        ({"scope": None, "scp": ["write", "share", 7]}, {"write", "share"}),
        ({"scope": None, "scp": "read"}, {"read"}),
        ({"scope": "openid"}, set()),
        ({"scope": None}, set()),
        ({"scope": "READ admin drive:admin read:all readwrite"}, set()),
        ({"scope": {"read": True}}, set()),
    ],
)
async def test_scopes_are_those_of_the_drive_among_the_tokens(
    issuer: Issuer, tokens: TokenService, claims: dict[str, Any], scopes: set[str]
) -> None:
    assert (await tokens.verify(issuer.token(**claims))).scopes == scopes


@pytest.mark.parametrize("audience", [AUDIENCE, [AUDIENCE], ["https://other.example", AUDIENCE]])
async def test_a_token_for_this_drive_is_taken(issuer: Issuer, tokens: TokenService, audience: Any) -> None:
    await tokens.verify(issuer.token(aud=audience))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"aud": "https://other.example/mcp"}, "not meant for this drive"),
        ({"aud": AUDIENCE + "/"}, "not meant for this drive"),
        ({"aud": ["https://other.example"]}, "not meant for this drive"),
        ({"aud": {AUDIENCE: 1}}, "not meant for this drive"),
        ({"aud": None}, "lacks a claim"),
        ({"iss": "https://other.example"}, "another issuer"),
        ({"iss": None}, "lacks a claim"),
        ({"exp": int(time.time()) - 90}, "expired"),
        ({"exp": None}, "lacks a claim"),
        ({"exp": "soon"}, "signature"),
        ({"nbf": int(time.time()) + A_DAY}, "not valid yet"),
        ({"iat": int(time.time()) + A_DAY}, "not valid yet"),
        ({"email": None}, "names no email"),
        ({"email": ["alice@example.com"]}, "names no email"),
        ({"email": ""}, "names no email"),
        ({"email_verified": False}, "not verified"),
        ({"email_verified": "false"}, "not verified"),
        ({"email_verified": 0}, "not verified"),
    ],
)
async def test_a_token_that_claims_something_else_is_refused_and_says_what(
    issuer: Issuer, tokens: TokenService, changes: dict[str, Any], why: str
) -> None:
    assert why in await refused(tokens, issuer.token(**changes))


async def test_clocks_may_differ_by_a_minute(issuer: Issuer, tokens: TokenService) -> None:
    now = int(time.time())

    await tokens.verify(issuer.token(exp=now - 30))
    await tokens.verify(issuer.token(nbf=now + 30, iat=now + 30))


async def test_an_end_beyond_all_calendars_is_the_last_day(issuer: Issuer, tokens: TokenService) -> None:
    assert (await tokens.verify(issuer.token(exp=10**17))).expires_at.year == 9999


async def test_an_audience_of_ones_own_may_be_set(issuer: Issuer, drive_settings: DriveSettings) -> None:
    service = TokenService(drive_settings.model_copy(update={"jwt_issuer": issuer.url, "jwt_audience": "drive"}))

    await service.verify(issuer.token(aud="drive"))
    await service.verify(issuer.token(aud=AUDIENCE))
    assert "not meant" in await refused(service, issuer.token(aud="other"))
    await service.close()


async def test_a_token_without_a_signature_is_refused(issuer: Issuer, tokens: TokenService) -> None:
    unsigned = jwt.encode(issuer.claims(), "", "none", {"kid": "first"})
    stripped = issuer.token().rpartition(".")[0] + "."

    assert "signed in a way" in await refused(tokens, unsigned)
    assert "signature" in await refused(tokens, stripped)


async def test_the_public_key_is_no_secret_to_sign_with(issuer: Issuer, tokens: TokenService) -> None:
    issuer.rotate("key", "RS256")
    public = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    unsigned = f"{encoded({'alg': 'HS256', 'kid': 'key'})}.{encoded(issuer.claims())}"
    signature = hmac.new(public, unsigned.encode(), sha256).digest()

    assert "signed in a way" in await refused(tokens, f"{unsigned}.{encoded(signature)}")


async def test_a_symmetric_key_of_the_issuer_is_not_taken_either(issuer: Issuer, tokens: TokenService) -> None:
    secret = b"s" * 64
    issuer.keys.append({"kty": "oct", "kid": "secret", "k": encoded(secret), "alg": "HS256"})

    assert "signed in a way" in await refused(tokens, jwt.encode(issuer.claims(), secret, "HS256", {"kid": "secret"}))


async def test_a_signature_by_somebody_else_is_refused(issuer: Issuer, tokens: TokenService) -> None:
    forged = jwt.encode(issuer.claims(), new_key("ES256"), "ES256", {"kid": "first"})
    head, body, signature = issuer.token().split(".")
    other = encoded(issuer.claims(email="bob@example.com"))

    assert "signature" in await refused(tokens, forged)
    assert "signature" in await refused(tokens, f"{head}.{other}.{signature}")
    assert body != other


async def test_a_short_key_is_not_taken(issuer: Issuer, tokens: TokenService) -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - weak on purpose
    issuer.keys = [public_jwk(short, "RS256", "short")]
    with pytest.warns(Warning, match="below the minimum"):
        token = jwt.encode(issuer.claims(), short, "RS256", {"kid": "short"})

    assert "signature" in await refused(tokens, token)


async def test_keys_that_the_token_brings_along_are_not_looked_at(issuer: Issuer, tokens: TokenService) -> None:
    async with issuing() as other:
        brought = {"kid": "first", "jwk": other.keys[0], "jku": f"{other.url}/keys", "x5u": f"{other.url}/keys"}
        forged = jwt.encode(issuer.claims(), other.key, "ES256", brought)

        assert "signature" in await refused(tokens, forged)
        assert other.asked == 0


async def test_another_issuers_token_is_refused_whoever_it_says_made_it(issuer: Issuer, tokens: TokenService) -> None:
    async with issuing() as other:
        assert "signature" in await refused(tokens, other.token())
        assert "signature" in await refused(tokens, other.token(iss=issuer.url))
    assert "another issuer" in await refused(tokens, issuer.token(iss=other.url))


async def test_a_token_for_another_end_is_refused(issuer: Issuer, tokens: TokenService) -> None:
    for token in (issuer.token({"typ": "logout+jwt"}), issuer.token({"typ": "dpop+jwt"}), typed(issuer)):
        assert "no access token" in await refused(tokens, token)
    for kind in (None, "JWT", "at+jwt", "application/at+jwt"):
        headers = {"kid": "first"} if kind is None else {"kid": "first", "typ": kind}
        await tokens.verify(jwt.encode(issuer.claims(), issuer.key, "ES256", headers))


def typed(issuer: Issuer) -> str:
    _, body, signature = issuer.token().split(".")
    return f"{encoded({'alg': 'ES256', 'kid': 'first', 'typ': 7})}.{body}.{signature}"


async def test_a_header_that_has_to_be_understood_is_refused(issuer: Issuer, tokens: TokenService) -> None:
    for headers in ({"crit": ["exp"], "exp": 1}, {"crit": ["b64"], "b64": True}, {"crit": []}):
        await refused(tokens, issuer.token(headers))


async def test_a_token_that_names_no_key_fits_the_only_one(issuer: Issuer, tokens: TokenService) -> None:
    nameless = issuer.token({"kid": None})
    assert (await tokens.verify(nameless)).email == "alice@example.com"


async def test_a_token_that_names_no_key_fits_none_of_several(
    issuer: Issuer, tokens: TokenService, clock: SettableClock
) -> None:
    issuer.keys.append(public_jwk(new_key("ES256"), "ES256", "second"))

    assert "does not have" in await refused(tokens, issuer.token({"kid": None}))
    clock.advance(0)


@pytest.mark.parametrize(
    "token",
    [
        ".",
        "..",
        "a.b",
        "a.b.c",
        "a.b.c.d",
        "....",
        "é.é.é",
        "\ud800.b.c",
        "x" * 20_000 + ".b.c",
        "a." + "x" * 20_000 + ".c",
        f"{encoded([])}.e30.e30",
        f"{encoded('alg')}.e30.e30",
        f"{encoded(b'[' * 5000)}.e30.e30",
        f"{encoded({'alg': ['ES256']})}.e30.e30",
        f"{encoded({'alg': 'ES256', 'kid': ['first']})}.e30.e30",
        f"{encoded({'alg': 'ES256', 'kid': 7})}.e30.e30",
        f"{encoded({'alg': 'es256', 'kid': 'first'})}.e30.e30",
    ],
)
async def test_what_is_no_token_is_refused_and_nobody_is_asked(
    issuer: Issuer, tokens: TokenService, token: str
) -> None:
    await refused(tokens, token)

    assert issuer.asked == 0


async def test_the_keys_are_asked_for_once(issuer: Issuer, tokens: TokenService) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(tokens.verify, issuer.token())

    assert issuer.asked == 1


async def test_a_new_key_is_found_and_the_old_one_forgotten(
    issuer: Issuer, tokens: TokenService, clock: SettableClock
) -> None:
    old = issuer.token()
    await tokens.verify(old)
    issuer.rotate("second", "RS256")
    clock.advance(61)

    assert (await tokens.verify(issuer.token())).email == "alice@example.com"
    assert "does not have" in await refused(tokens, old)


async def test_unknown_keys_have_the_issuer_asked_once_a_minute(
    issuer: Issuer, tokens: TokenService, clock: SettableClock
) -> None:
    await tokens.verify(issuer.token())
    for number in range(10):
        await refused(tokens, issuer.token({"kid": f"unknown {number}"}))
    assert issuer.asked == 1

    clock.advance(61)
    for number in range(10):
        await refused(tokens, issuer.token({"kid": f"unknown {number}"}))
    assert issuer.asked == 2


async def test_a_key_that_the_issuer_took_back_counts_for_an_hour_at_most(
    issuer: Issuer, tokens: TokenService, clock: SettableClock
) -> None:
    stolen = issuer.token()
    await tokens.verify(stolen)
    issuer.rotate("second")
    clock.advance(3601)

    assert "does not have" in await refused(tokens, stolen)


async def test_keys_that_are_known_count_while_the_issuer_is_away(
    issuer: Issuer, tokens: TokenService, clock: SettableClock
) -> None:
    await tokens.verify(issuer.token())
    issuer.failure = PlainTextResponse("broken", 500)
    clock.advance(7200)

    assert (await tokens.verify(issuer.token())).email == "alice@example.com"


async def test_an_issuer_that_is_away_is_said_to_be_and_asked_again_later(
    issuer: Issuer, tokens: TokenService, clock: SettableClock
) -> None:
    issuer.failure = PlainTextResponse("broken", 500)
    for _ in range(4):
        with pytest.raises(UnavailableError):
            await tokens.verify(issuer.token())
    with pytest.raises(UnavailableError) as caught:
        await tokens.verify(issuer.token())
    assert caught.value.status == 503
    assert caught.value.details["retry_after_seconds"] > 0

    issuer.failure = None
    with pytest.raises(UnavailableError):
        await tokens.verify(issuer.token())
    clock.advance(11)
    assert (await tokens.verify(issuer.token())).email == "alice@example.com"


@pytest.mark.parametrize(
    "answer",
    [
        PlainTextResponse("[" * 10_000),
        JSONResponse([]),
        JSONResponse({"keys": {}}),
        JSONResponse({"keys": []}),
        JSONResponse(
            {"keys": [None, 7, {}, {"kty": "RSA"}, {"kty": ["RSA"]}, {"kty": "EC", "crv": "P-256", "x": "!"}]}
        ),
        PlainTextResponse(" " * 600_000),
        PlainTextResponse("", 302, {"Location": "http://127.0.0.1:1/"}),
    ],
)
async def test_an_issuer_that_answers_nonsense_is_as_good_as_away(
    issuer: Issuer, drive_settings: DriveSettings, answer: Any
) -> None:
    update = {"jwt_issuer": issuer.url, "jwt_keys_url": f"{issuer.url}/keys"}
    service = TokenService(drive_settings.model_copy(update=update))
    issuer.failure = answer

    with pytest.raises(UnavailableError):
        await service.verify(issuer.token())
    await service.close()


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://other"}, *({"jwks_uri": uri} for uri in ("http://a.example/", "https://a.example:port/", 7))],
)
async def test_metadata_that_are_not_the_issuers_are_not_followed(
    issuer: Issuer, tokens: TokenService, metadata: dict[str, Any]
) -> None:
    issuer.metadata = metadata

    with pytest.raises(UnavailableError):
        await tokens.verify(issuer.token())
    assert issuer.asked == 0


async def test_nobody_at_the_issuers_address(issuer: Issuer, drive_settings: DriveSettings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
    service = TokenService(drive_settings.model_copy(update={"jwt_issuer": address}))

    with pytest.raises(UnavailableError):
        await service.verify(issuer.token())
    await service.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"jwt_issuer": "http://issuer.example"},
        {"jwt_issuer": "issuer.example"},
        {"jwt_issuer": "file:///etc/passwd"},
        {"jwt_issuer": "https://"},
        {"jwt_issuer": "http://[::1"},
        {"jwt_issuer": "https://issuer.example", "jwt_keys_url": "http://issuer.example/keys"},
    ],
)
def test_an_issuer_is_reached_by_https_or_on_this_machine(
    drive_settings: DriveSettings, changes: dict[str, str]
) -> None:
    with pytest.raises(InvalidInputError):
        TokenService(drive_settings.model_copy(update=changes))


async def test_the_person_of_a_token_is_the_user_with_that_email(issuer: Issuer, drive_settings: DriveSettings) -> None:
    async with drive_of(issuer, drive_settings) as drive:
        alice = await new_person(drive.identity, "alice@example.com")

        principal = await drive.identity.authenticate(issuer.token(email="Alice@EXAMPLE.com"))

        assert (principal.user_id, principal.method, principal.key_name) == (alice.user_id, "jwt", "editor")
        assert principal.scopes == {"read", "write"}
        assert not principal.is_admin
        made = await drive.files.create_folder(Actor(principal), "root", "By token")
        (change,) = (await drive.journal.list_changes(alice, item=made.value.id)).items
    assert change.tool == ""


async def test_nobody_becomes_an_administrator_by_token(issuer: Issuer, drive_settings: DriveSettings) -> None:
    async with drive_of(issuer, drive_settings, jwt_create_users=True) as drive:
        await local_owner(drive.identity)
        with pytest.raises(UnauthenticatedError) as caught:
            await drive.identity.authenticate(issuer.token(email="me@localhost"))

    assert "no account" in caught.value.message


async def test_a_stranger_is_told_that_there_is_no_account(issuer: Issuer, drive_settings: DriveSettings) -> None:
    async with drive_of(issuer, drive_settings) as drive:
        with pytest.raises(UnauthenticatedError) as caught:
            await drive.identity.authenticate(issuer.token(email="stranger@example.com"))
        owner = await local_owner(drive.identity)
        users = await drive.people.list(owner)

    assert "no account" in caught.value.message
    assert [user.email for user in users] == ["me@localhost"]


async def test_a_stranger_gets_one_account_if_the_settings_say_so(
    issuer: Issuer, drive_settings: DriveSettings
) -> None:
    async with drive_of(issuer, drive_settings, jwt_create_users=True) as drive:
        found: list[str] = []

        async def come() -> None:
            found.append((await drive.identity.authenticate(issuer.token(email="张伟@example.com"))).user_id)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(come)
        principal = await drive.identity.authenticate(issuer.token(email="张伟@example.com"))
        root = await drive.files.get(Actor(principal), "root")
        with pytest.raises(UnauthenticatedError):
            await drive.identity.authenticate(issuer.token(email="not an address"))

    assert set(found) == {principal.user_id}
    assert root.kind == "folder"


async def test_keys_work_while_the_issuer_is_away(issuer: Issuer, drive_settings: DriveSettings) -> None:
    issuer.failure = PlainTextResponse("broken", 500)
    async with drive_of(issuer, drive_settings) as drive:
        owner = await local_owner(drive.identity)
        with pytest.raises(UnavailableError):
            await drive.identity.authenticate(issuer.token())

    assert owner.principal.is_admin


async def test_without_an_issuer_a_token_is_just_an_unknown_key(issuer: Issuer, drive: Drive) -> None:
    with pytest.raises(DriveError) as caught:
        await drive.identity.authenticate(issuer.token())

    assert caught.value.message == "This key is not valid."
    assert issuer.asked == 0
