"""Links over TLS whose certificate a list revokes, at the handshake and at a reload."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tamis.router.links.tls import link_tls
from tamis.testing.router import RouterProcess
from tests.router.access.certifying import Root
from tests.router.links.conftest import start_together


@pytest.fixture
def root(tmp_path):
    made = Root(tmp_path)
    for name in ("a", "b"):
        made.issue(name, name)
    made.revoke("list")
    return made


def topology(folder: Path, ports: tuple[int, int], **more: str) -> str:
    """Two linked routers with certificates, and a list."""

    def router(name: str, port: int) -> dict[str, object]:
        files = {"certificate": f"{name}.pem", "key": f"{name}.key", "ca": "root.pem", "revoked": "list"}
        tls = {key: str(folder / file) for key, file in files.items()}
        return {"neighbours": f"127.0.0.1:{port}", "neighbour_tls": tls} | more

    routers = {name: router(name, port) for name, port in zip("ab", ports, strict=True)}
    return json.dumps({"routers": routers, "links": [["a", "b"]]})


@pytest.fixture
def ports(unused_tcp_port_factory):
    return unused_tcp_port_factory(), unused_tcp_port_factory()


@pytest.mark.parametrize(("judge", "revoked"), ["ab", "ba"])
async def test_a_link_ends_when_a_list_revokes_the_certificate_of_the_other_end(
    nodes, tmp_path, root, ports, judge, revoked
):
    made = await start_together(nodes(topology(tmp_path, ports)))
    node = made[judge]
    await node.knows(revoked)
    root.revoke("list", str(tmp_path / f"{revoked}.pem"))
    node.network.neighbours.use_tls(link_tls(node.settings.neighbour_tls))
    assert not node.is_up(revoked), "at once, whichever end has dialled"
    assert node.neighbour(revoked).problem == "the certificate CN=x is revoked"
    await made[revoked].until(lambda: not made[revoked].is_up(judge))
    root.revoke("list")
    node.network.neighbours.use_tls(link_tls(node.settings.neighbour_tls))


@pytest.mark.parametrize("revoked", "ab")
async def test_a_router_with_a_revoked_certificate_gets_no_link(nodes, tmp_path, root, ports, revoked):
    root.revoke("list", str(tmp_path / f"{revoked}.pem"))
    made = await start_together(nodes(topology(tmp_path, ports)))
    a, b = made["a"], made["b"]
    await a.until(lambda: a.neighbour("b").problem or b.neighbour("a").problem)
    assert not a.is_up("b")
    assert not b.is_up("a")


async def test_a_daemon_reads_lists_and_roots_of_its_links_again(tmp_path, root, ports):
    file = tmp_path / "net.yaml"
    file.write_text(topology(tmp_path, ports))
    routers = [RouterProcess(name, file) for name in "ab"]
    try:
        await asyncio.gather(*(each.start() for each in routers))
        logs = [each.log for each in routers]
        async with asyncio.timeout(20):
            while not all("link up" in log.read_text() for log in logs):
                await asyncio.sleep(0.02)
        root.revoke("list", str(tmp_path / "b.pem"))
        routers[0].send_signal(signal.SIGHUP)
        async with asyncio.timeout(20):
            while "the certificate CN=x is revoked" not in logs[0].read_text():
                await asyncio.sleep(0.02)
        assert "need_a_restart" not in logs[0].read_text()
        ups = logs[0].read_text().count("link up")
        root.revoke("list")
        routers[0].send_signal(signal.SIGHUP)
        async with asyncio.timeout(20):
            while logs[0].read_text().count("link up") == ups:
                await asyncio.sleep(0.02)
    finally:
        for each in routers:
            await each.kill()
