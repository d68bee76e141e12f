"""Certificates that a list revokes: at the handshake, at a reload, and on links, in real routers."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Welcome
from tests.router.access.certifying import Root
from tests.router.access.test_reload import reloaded
from tests.router.wire_client import Closed, WireClient, close_all, hello

RULES = """\
roles: {any: {publish: true, subscribe: true}}
principals: {press: {roles: any, certificate: true}, board: {roles: any, certificate: true}}
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return Root(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def shown(root):
    """The files of the certificates of two principals, and their keys."""
    return {name: root.issue(name, name) for name in ("press", "board")}


class Secured:
    """A topology file of one router that demands certificates, and a list beside it."""

    def __init__(self, folder: Path, root: Root, **more: object) -> None:
        self.folder, self.root, self.list = folder, root, folder / "revoked.pem"
        rules = folder / "rules.yaml"
        rules.touch(0o600)
        rules.write_text(RULES)
        certificate, key = root.issue("daemon", "localhost")
        tls = {"certificate": certificate, "key": key, "clients": "required", "ca": root.ca, "revoked": "revoked.pem"}
        router = {"clients": "localhost:0", "admin": "unix:admin"}
        tls = {key: value for key, value in (tls | more).items() if value is not None}
        self.text = json.dumps({"routers": {"a": router}, "access": "rules.yaml", "tls": tls})
        self.revoke()

    def revoke(self, *certificates: str, **more: object) -> None:
        self.list.write_bytes(Path(self.root.revoke("list", *certificates, **more)).read_bytes())

    async def greeted(self, router, name: str, files: tuple[str, str]) -> WireClient:
        context = ssl.create_default_context(cafile=self.root.ca)
        context.load_cert_chain(*files)
        port = router.where.rpartition(":")[2]
        client = await WireClient.connect(f"tamis+tls://localhost:{port}", name, ssl=context)
        await client.send(hello(name))
        await client.next(Welcome)
        await client.send(Auth(AuthMethod.NONE, b""))
        await client.next(Authenticated)
        return client


@pytest.fixture
async def secured(tmp_path, root):
    yield Secured(tmp_path, root)
    await close_all()


async def test_a_revoked_certificate_ends_the_handshake_and_at_a_reload_the_session(process, secured, shown):
    router = process(secured.text)
    assert router.ready, router.errors
    press, board = [await secured.greeted(router, name, shown[name]) for name in ("press", "board")]
    secured.revoke(shown["press"][0])
    await reloaded(router)
    [error] = await press.until_closed()
    assert (error.code, error.text) == (ErrorCode.REVOKED, "the certificate CN=x is revoked")
    with pytest.raises((Closed, OSError, ssl.SSLError)):
        await secured.greeted(router, "press", shown["press"])
    await board.subscribe(1, "x = 1", own=True)
    await board.publish({"x": 1})
    assert await board.delivered() == {"x": 1}
    assert "certificate revoked" in router.errors

    secured.revoke()
    await reloaded(router)
    await secured.greeted(router, "press", shown["press"])
    assert "Traceback" not in router.errors


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda secured: secured.list.write_text("none"), "it is no list of revoked certificates"),
        (lambda secured: secured.revoke(days=-1), "it expired on "),
        (lambda secured: secured.list.unlink(), "No such file or directory"),
    ],
)
async def test_a_wrong_list_leaves_the_one_before_in_force(process, secured, shown, wrong, sentence):
    secured.revoke(shown["press"][0])
    router = process(secured.text)
    assert router.ready, router.errors
    board = await secured.greeted(router, "board", shown["board"])
    wrong(secured)
    await reloaded(router)
    assert "the rules of access and the lists of revoked certificates are those of before" in router.errors
    assert sentence in router.errors
    with pytest.raises((Closed, OSError, ssl.SSLError)):
        await secured.greeted(router, "press", shown["press"])
    await board.subscribe(1, "x = 1", own=True)
    await board.publish({"x": 1})
    assert await board.delivered() == {"x": 1}


def test_a_wrong_list_stops_the_start_and_is_named_by_a_check(process, secured, capsys):
    secured.list.write_text("none")
    router = process(secured.text)
    assert not router.ready
    sentence = r"tls: revoked: \S*revoked.pem: it is no list of revoked certificates \(CRL\) in PEM or DER"
    assert re.search(sentence, router.errors)
    assert main(["check", str(router.file)]) == 1
    said = capsys.readouterr()
    assert re.search(sentence, said.out + said.err)


def test_lists_need_roots(process, tmp_path, root):
    router = process(Secured(tmp_path, root, clients="none", ca=None).text)
    assert not router.ready
    assert "tls: needs `ca`, whose authorities sign what `revoked` has" in router.errors


async def test_a_reload_during_a_handshake_lets_no_revoked_certificate_in(process, secured, shown):
    """A connection that the lists of before let through is held against those of now when its handshake is over."""
    router = process(secured.text)
    context = ssl.create_default_context(cafile=secured.root.ca)
    context.load_cert_chain(*shown["press"])
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    host, _, port = router.where.partition("://")[2].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    writer.write(outgoing.read())
    incoming.write(await reader.read(65_536))
    tls.do_handshake()
    secured.revoke(shown["press"][0])
    await reloaded(router)
    writer.write(outgoing.read())
    while data := await reader.read(65_536):
        incoming.write(data)
    writer.close()
    assert b"is revoked" in tls.read()
