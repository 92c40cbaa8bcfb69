"""No connection to an address that was not checked, whatever the name says, said or will say."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from graph.servers.addresses import AddressGuard
from graph.servers.pool import ServerPool
from graph.servers.reasons import FaultError, ServerUnavailableError
from graph.settings import AgentSettings
from tests.fakes.clock import SettableClock
from tests.fakes.raw_server import whole
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.hostile import HostileHttp, hostile_http
from tests.graph.servers.real import remote


def guard(*found: str, allowed: str = "") -> AddressGuard:
    async def lookup(name: str, port: int) -> Sequence[str]:
        del name, port
        return found

    return AddressGuard(allowed.split(","), lookup)


@pytest.fixture
async def server() -> AsyncGenerator[HostileHttp]:
    async with hostile_http() as served:
        yield served


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200"),
        *(str(IPv4Address(0)), "224.0.0.1", "255.255.255.255", "168.63.129.16", "192.0.0.192", "198.18.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fec0::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
        *("::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "2001:0:5db8:d822::a247:27dd", "::93.184.216.34", "4000::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1"),
    ],
)
async def test_addresses_inside_a_network_are_refused(address: str) -> None:
    with pytest.raises(FaultError) as refused:
        await guard("93.184.216.34", address).addresses("mcp.example", 443)

    assert refused.value.reason.code == "address_refused"


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"])
async def test_public_addresses_are_reached(address: str) -> None:
    assert await guard(address).addresses("mcp.example", 443) == (address,)


@pytest.mark.parametrize(
    ("allowed", "may"),
    [
        ("intranet.example", True),
        ("Intranet.Example:8080", True),
        ("intranet.example:81", False),
        ("10.0.0.0/8", True),
        ("10.1.2.3", True),
        ("11.0.0.0/8", False),
        ("example", False),
        ("", False),
    ],
)
async def test_the_operator_allows_private_hosts_by_name_port_or_network(allowed: str, *, may: bool) -> None:
    reach = guard("10.1.2.3", allowed=allowed).addresses("intranet.example", 8080)
    if may:
        assert await reach == ("10.1.2.3",)
    else:
        with pytest.raises(FaultError):
            await reach


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "localhost."])
async def test_no_spelling_of_this_machine_gets_past_the_guard(
    make_pool: PoolMaker, name: str, server: HostileHttp
) -> None:
    pool = make_pool(mcp_private_hosts="")
    definition = replace(remote("streamableHttp", server.port), base_url=f"http://{name}:{server.port}/mcp")

    with pytest.raises(ServerUnavailableError) as refused:
        await pool.tools(definition)

    assert refused.value.reason.code in {"address_refused", "host_unknown"}
    assert not server.heads


async def test_a_name_that_changes_its_address_is_checked_at_each_connection(
    server: HostileHttp, clock: SettableClock
) -> None:
    """DNS rebinding: public when the person adds the server, private later."""
    found = ["127.0.0.1"]

    async def lookup(name: str, port: int) -> Sequence[str]:
        del name, port
        return found

    pool = ServerPool(AgentSettings(mcp_private_hosts="127.0.0.1/32"), clock=clock, lookup=lookup)
    definition = replace(remote("streamableHttp", server.port), base_url=f"http://rebind.example:{server.port}/mcp")
    server.behaviours["tools/list"] = lambda _message: whole(b"", "connection: close", status="500 Oops")

    with pytest.raises(ServerUnavailableError) as first:
        await pool.tools(definition)
    found.append("10.0.0.1")
    with pytest.raises(ServerUnavailableError) as second:
        await pool.details(definition)
    await pool.aclose()

    assert first.value.reason.code == "http_status"
    assert second.value.reason.code == "address_refused"


@pytest.mark.parametrize(
    "path", ["http://127.0.0.1:{other}/mcp", "http://169.254.169.254/latest", "//localhost:{other}/"]
)
async def test_a_redirect_to_another_address_is_not_followed_and_told(
    make_pool: PoolMaker, server: HostileHttp, path: str
) -> None:
    async with hostile_http() as inside:
        location = path.format(other=inside.port)
        server.behaviours["initialize"] = lambda _message: whole(
            b"", f"location: {location}?token=secret", status="307 Temporary Redirect"
        )
        definition = remote("streamableHttp", server.port, headers={"Authorization": "Bearer mine"})

        with pytest.raises(ServerUnavailableError) as refused:
            await make_pool().tools(definition)

        assert not inside.heads
    assert refused.value.reason.code == "redirect"
    assert "secret" not in refused.value.reason.for_person()


async def test_nobodys_credentials_but_the_definitions_own_are_sent(
    make_pool: PoolMaker, server: HostileHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://user:password@127.0.0.1:9")
    server.behaviours["initialize"] = lambda message: server.initialize(message).replace(
        b"content-type", b"set-cookie: session=abc\r\ncontent-type"
    )
    pool = make_pool()
    await pool.tools(remote("streamableHttp", server.port, headers={"X-Key": "one"}))
    await pool.tools(remote("streamableHttp", server.port, id="s2", headers={}))

    second = [head for head in server.heads if "x-key: one" not in head.lower()]
    assert second
    assert "x-key" in server.heads[0].lower()
    assert not [head for head in second[:1] if "cookie" in head.lower() or "authorization" in head.lower()]


@pytest.mark.parametrize("headers", [{"X-Key": "top\nsecret"}, {"X Key": "top-secret"}, {"X-Key": "top-secret-密"}])
async def test_a_header_that_can_not_be_sent_is_named_without_its_value(
    make_pool: PoolMaker, server: HostileHttp, headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ServerUnavailableError) as refused:
        await make_pool().tools(remote("streamableHttp", server.port, headers=headers))

    assert refused.value.reason.code == "definition"
    assert "secret" not in refused.value.reason.for_person() + caplog.text
