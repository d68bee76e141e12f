"""Links between two routers: how they come up, how they end, who is let in."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from dataclasses import replace

import pytest

from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import AdvertisedFilter, ReceiverAdvertisement
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Error, Role, Welcome
from tamis.router.core.commands import NeighbourSession
from tamis.router.links import outgoing
from tamis.router.links.outgoing import Outgoing
from tests.router.links.conftest import linked, start_together
from tests.router.wire_client import WireClient, hello

SMALLER, LARGER = sorted("ab", key=stable_number)


async def two(nodes, text: str = "", **more: str):
    """Both started, and linked."""
    made = await start_together(nodes(text or linked("ab", **more)))
    await made["a"].until(lambda: made["a"].is_up("b") and made["b"].is_up("a"))
    return made


async def stranger(node, name: str, **changes: object) -> WireClient:
    """Who says it is a router of this name; the connection once its HELLO is sent."""
    client = await WireClient.connect(str(node.settings.neighbours[0]), name)
    said = {"role": Role.ROUTER, "link_cost": 1, "epoch": 2**62, "hold_ms": 60_000}
    await client.send(hello(name, **said | changes))
    return client


async def let_in(node, name: str, **changes: object) -> WireClient:
    client = await stranger(node, name, **changes)
    assert isinstance(await client.next(), Welcome)
    await client.send(Auth(AuthMethod.NONE, b""))
    assert isinstance(await client.next(), Authenticated)
    return client


async def refused(client: WireClient) -> Error:
    [error] = await client.until_closed()
    assert error.fatal
    return error


async def test_one_dials_and_there_is_one_link(nodes):
    made = await two(nodes)
    dialling, waiting = made[SMALLER], made[LARGER]
    assert dialling.neighbour(LARGER).settings.dial is not None
    assert waiting.neighbour(SMALLER).settings.dial is None
    for node in made.values():
        [link] = node.status()["links"]
        assert (link["state"], link["sessions"], link["problem"]) == ("up", 1, "")
        assert node.connections.switch.figures().connections == 1


async def test_a_neighbour_that_comes_later_or_again_is_linked(nodes):
    made = nodes(linked("ab"))
    first, later = made[SMALLER], made[LARGER]
    await first.start()
    await first.until(lambda: first.neighbour(LARGER).problem)
    [link] = first.status()["links"]
    assert (link["state"], link["problem"]) == ("dialling", "No such file or directory")
    await later.start()
    await first.until(lambda: first.is_up(LARGER))
    later.kill()
    await first.until(lambda: not first.is_up(LARGER))
    await later.start()
    await first.until(lambda: first.is_up(LARGER))
    assert first.neighbour(LARGER).sessions == 2
    assert first.neighbour(LARGER).epoch == later.connections.epoch


async def test_the_sums_of_a_link_outlive_its_sessions(nodes):
    made = await two(nodes)
    a = made["a"]
    await a.knows("b")
    carried = a.neighbour("b").carried
    assert carried.control_frames_out > 0
    made["b"].kill()
    await a.until(lambda: not a.is_up("b"))
    assert a.neighbour("b").carried.control_frames_out >= carried.control_frames_out


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("x", {}, f"x is no neighbour of {LARGER}"),
        (LARGER, {}, f"{LARGER} is this router itself"),
        (SMALLER, {"role": Role.CLIENT, "link_cost": 0}, "only neighbours connect here"),
    ],
)
async def test_who_is_not_let_in_is_told_why(nodes, name, changes, text):
    node = await nodes(linked("ab"))[LARGER].start()
    error = await refused(await stranger(node, name, **changes))
    assert error.code == ErrorCode.AUTHENTICATION_FAILED
    assert text in error.text


async def test_who_should_have_been_dialled_is_not_let_in(nodes):
    node = await nodes(linked("ab"))[SMALLER].start()
    assert f"is dialled by {SMALLER}" in (await refused(await stranger(node, LARGER))).text


async def test_versions_that_do_not_meet(nodes):
    node = await nodes(linked("ab"))[LARGER].start()
    error = await refused(await stranger(node, SMALLER, version_low=7, version_high=9))
    assert error.code == ErrorCode.VERSION_REFUSED
    assert error.text == "no version in common: this side supports 1 to 3, the peer 7 to 9"


async def test_a_new_session_replaces_the_old_and_an_earlier_start_does_not(nodes):
    node = await nodes(linked("ab"))[LARGER].start()
    old = await let_in(node, SMALLER, epoch=5)
    new = await let_in(node, SMALLER, epoch=5)
    assert ErrorCode.REPLACED in [frame.code for frame in await old.until_closed() if isinstance(frame, Error)]
    late = await stranger(node, SMALLER, epoch=4)
    await late.next()
    await late.send(Auth(AuthMethod.NONE, b""))
    assert (await refused(late)).text == f"a later start of {SMALLER} is linked"
    await new.close()
    await node.until(lambda: not node.is_up(SMALLER))
    await let_in(node, SMALLER, epoch=4)
    assert node.neighbour(SMALLER).sessions == 3


@pytest.mark.slow
async def test_a_silent_neighbour_is_given_up_within_its_hold_time(nodes):
    node = await nodes(linked("ab", more=", keepalive: {hold_ms: 300, ping_ms: 100}"))[LARGER].start()
    silent = await let_in(node, SMALLER)
    since_s = asyncio.get_running_loop().time()
    errors = [frame for frame in await silent.until_closed() if isinstance(frame, Error)]
    assert [error.code for error in errors] == [ErrorCode.SILENT]
    assert asyncio.get_running_loop().time() - since_s >= 0.2
    assert node.neighbour(SMALLER).problem == "no frame arrived for 300 ms"


@pytest.mark.parametrize("is_right", [True, False])
async def test_both_ends_have_to_know_the_secret(nodes, tmp_path, is_right):
    for name, secret in (
        ("a", "a long enough secret"),
        ("b", "a long enough secret" if is_right else "another secret 12"),
    ):
        (tmp_path / f"{name}.key").write_text(secret + "\n")
        (tmp_path / f"{name}.key").chmod(0o600)
    made = nodes(linked("ab", more=", secret: '{}/a.key'"))
    made["b"].settings = replace(
        made["b"].settings, links=(replace(made["b"].settings.links[0], secret=str(tmp_path / "b.key")),)
    )
    await start_together(made)
    a, b = made[SMALLER], made[LARGER]
    if is_right:
        await a.until(lambda: a.is_up(LARGER))
    else:
        await a.until(lambda: a.neighbour(LARGER).problem.startswith("it reports"))
        assert a.neighbour(LARGER).problem == f"it reports: {SMALLER} does not know the secret of this link"
        assert not b.is_up(SMALLER)


def sessions(node, body) -> tuple[NeighbourSession, ...]:
    takers = node.network.core.core_state.links.takers(body)
    return tuple(NeighbourSession(link.neighbour, link.session) for link in takers)


async def test_too_much_control_resets_the_link_and_it_comes_back(nodes, monkeypatch):
    made = await two(nodes)
    a = made[SMALLER]
    await a.knows(LARGER)
    monkeypatch.setattr(outgoing, "QUEUE_BYTES_MAX", 100_000)
    rows = tuple(AdvertisedFilter(number, bytes(100)) for number in range(2_000))
    body = ReceiverAdvertisement(1, 1, 1, True, 0, rows, (), bytes(16), len(rows), False)
    a.network.neighbours.send(sessions(a, body), body)
    await a.until(lambda: a.neighbour(LARGER).sessions == 2 and a.is_up(LARGER))


async def test_control_passes_data_that_waits(nodes):
    """A neighbour that does not read: what the core says is in the urgent lane, in front of the messages."""
    node = await nodes(linked("ab", more=", keepalive: {hold_ms: 60_000}"))[LARGER].start()
    await let_in(node, SMALLER)
    link = node.neighbour(SMALLER).link
    assert isinstance(link.outgoing, Outgoing)
    message = encode(Error(13, "x" * 1000, 0, False))
    while node.connections.switch.send(link.connection, message * 50, urgent=False):
        pass
    waiting = node.connections.switch.connection(link.connection).queued_bytes
    assert waiting > 1_000_000
    rows = tuple(AdvertisedFilter(number, bytes(100)) for number in range(5_000))
    body = ReceiverAdvertisement(1, 1, 1, True, 0, rows, (), bytes(16), len(rows), False)
    node.network.neighbours.send(sessions(node, body), body)
    await node.until(lambda: link.outgoing.queued_bytes > 0)
    assert node.connections.switch.connection(link.connection).queued_bytes - waiting <= outgoing.WINDOW_BYTES
    assert link.is_open


# --- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A root, and certificates of a and b that lead to it; x is made out to somebody else."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made with openssl")
    folder = tmp_path_factory.mktemp("certificates")
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]

    def run(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)  # noqa: S603, S607

    run("req", "-x509", *new, "-subj", "/CN=root", "-keyout", "root.key", "-out", "root.pem")
    for name in ("a", "b", "x"):
        run(
            *("req", "-x509", *new, "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:FALSE"),
            *("-CA", "root.pem", "-CAkey", "root.key", "-keyout", f"{name}.key", "-out", f"{name}.pem"),
        )
    return folder


def behind_tls(folder, a: str = "a", b: str = "b", ports: tuple[int, int] = (0, 0)) -> str:
    def router(name: str, shown: str, port: int) -> str:
        files = f"certificate: {folder}/{shown}.pem, key: {folder}/{shown}.key, ca: {folder}/root.pem"
        return f"{name}: {{neighbours: '127.0.0.1:{port}', neighbour_tls: {{{files}}}}}"

    return f"routers: {{{router('a', a, ports[0])}, {router('b', b, ports[1])}}}\nlinks: [[a, b]]"


@pytest.fixture
def ports(unused_tcp_port_factory):
    return unused_tcp_port_factory(), unused_tcp_port_factory()


async def test_links_behind_tls_carry_what_others_do(nodes, certificates, ports):
    made = await two(nodes, behind_tls(certificates, ports=ports))
    a, b = made["a"], made["b"]
    await a.knows("b")
    await b.knows("a")
    alice, bob = await a.client("alice"), await b.client("bob")
    await bob.send_bytes(b"")
    await bob.subscribe(1, "x > 1")
    await a.until(lambda: a.status()["remote_filters"] == 1)
    await alice.publish({"x": 2})
    assert await bob.delivered() == {"x": 2}
    assert a.status()["links"][0]["rtt_us"] > 0


@pytest.mark.parametrize("byzantine", ["a", "b"])
async def test_a_certificate_of_somebody_else_is_refused(nodes, certificates, ports, byzantine):
    made = await start_together(nodes(behind_tls(certificates, **{byzantine: "x"}, ports=ports)))
    a = made[SMALLER]
    await a.until(lambda: "the certificate is not that of" in a.neighbour(LARGER).problem)
    assert f"not that of {byzantine}; its names are x" in a.neighbour(LARGER).problem


async def test_who_shows_no_certificate_is_not_heard(nodes, certificates, ports):
    node = await nodes(behind_tls(certificates, ports=ports))[LARGER].start()
    client = await WireClient.connect(f"tamis://{node.settings.neighbours[0]}", SMALLER)
    await client.send(hello(SMALLER, role=Role.ROUTER, link_cost=1))
    assert await client.until_closed() == []
    assert not node.is_up(SMALLER)
