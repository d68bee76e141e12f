"""Clients that come in by a signed token or by a certificate, through real connections."""

from __future__ import annotations

import asyncio
import json
import signal
import ssl
import time
from pathlib import Path

import pytest

import tamis
from tamis.configs import Address
from tamis.configs.access.load import parse_access
from tamis.configs.sections.connections import Tls
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Error, Welcome
from tamis.router.access import verifying
from tamis.router.access.proofs import NOT_CERTIFIED, NOT_VALID, Proofs
from tamis.router.access.signed_tokens import SignedTokens
from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.tls import certified_names, tls_acceptor
from tamis.serving.listeners import Acceptor, bind
from tamis.serving.tls_contexts import server_context
from tests.router.access.certifying import Root
from tests.router.access.issuing import Key, claims, keys_file
from tests.router.wire_client import Closed, WireClient, close_all, hello

RULES = """\
roles:
  sensor: {publish: true, stamp: {level: 1}}
  reader: {subscribe: true}
  other: {stamp: {level: true}}
principals:
  press: {roles: sensor, certificate: true}
  '*.plant.example': {roles: [sensor, reader], certificate: true}
  'spiffe://plant/*/press': {roles: reader, certificate: true}
issuers:
  corp:
    {issuer: 'https://id.example', audience: 'tamis:plant', keys: KEYS, algorithms: [EdDSA], names: 'ann*',
     roles: sensor, roles_from: groups}
"""


@pytest.fixture(scope="module")
def key():
    return Key("EdDSA")


class Ruled:
    """Connections with rules."""

    def __init__(self, inside, tmp_path, key: Key) -> None:
        self.keys = keys_file(tmp_path / "jwks.json", key.jwk)
        self.net = inside(access=RULES.replace("KEYS", self.keys))
        self.net.clients.proofs = Proofs(*self.read(RULES))

    def read(self, text: str):
        rules = parse_access(text.replace("KEYS", self.keys)).rules
        return rules, SignedTokens(rules.issuers, rules.roles, lambda name: rules.of(name) is not None, time.time)

    async def asks(self, name: str, method: AuthMethod, token: bytes = b"", where: str = "", **more):
        """The offered methods, and the answer to AUTH."""
        client = await WireClient.connect(where or self.net.where, name, **more)
        await client.send(hello(name))
        welcome = await client.next(Welcome)
        await client.send(Auth(method, token))
        return welcome.methods, await client.next()

    def admitted(self, name: str):
        return self.net.clients.names[name].admitted


@pytest.fixture
async def ruled(inside, tmp_path, key):
    it = Ruled(inside, tmp_path, key)
    yield it
    it.net.clients.verifying.close()


def said(**changed):
    """Claims that are valid now."""
    now = int(time.time())
    return claims(**({"iat": now, "nbf": now, "exp": now + 600} | changed))


async def test_a_signed_token_admits_its_subject_with_its_roles(ruled, key):
    methods, answer = await ruled.asks("ann/desk", AuthMethod.JWT, key.token(said(groups=["reader", "mail"])))
    assert methods == (AuthMethod.TOKEN, AuthMethod.JWT)
    assert isinstance(answer, Authenticated), answer
    found = ruled.admitted("ann/desk")
    assert (found.principal, found.roles, found.token_digest) == ("ann", {"sensor", "reader"}, None)
    assert abs(found.until_s - time.time() - 600) < 60


@pytest.mark.parametrize(
    "token",
    [
        lambda key: key.token(said(), alg="none"),
        lambda key: key.token(said(exp=int(time.time()) - 1)),
        lambda key: key.token(said(aud="other")),
        lambda key: key.token(said(sub="bob")),
        lambda key: key.token(said(groups=["other"])),
        lambda _: Key("EdDSA").token(said()),
        lambda _: b"\x00" * 4_096,
        lambda _: b"[" * 4_096,
    ],
)
async def test_every_refusal_is_one_answer_without_a_traceback(ruled, key, token, caplog):
    _, answer = await ruled.asks("ann", AuthMethod.JWT, token(key))
    assert answer == Error(ErrorCode.AUTHENTICATION_FAILED, NOT_VALID, 0x12, True)
    assert ruled.net.connections.admissions.refused[Side.CLIENT, Reason.CREDENTIAL] == 1
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_credential_of_more_than_4096_bytes_is_refused(ruled):
    client = await WireClient.connect(ruled.net.where, "ann")
    await client.send(hello("ann"))
    await client.next(Welcome)
    whole = b"\x92\x05\xc5\x10\x01" + bytes(4_097)
    await client.send_bytes((len(whole) + 8).to_bytes(4, "little") + b"\x12\0\0\0" + whole)
    assert (await client.next(Error)).text == "credential of AUTH: expected 0 to 4096 bytes, not 4097"


async def test_a_session_ends_when_its_token_expires(ruled, key):
    client = await WireClient.connect(ruled.net.where, "ann")
    await client.send(hello("ann"))
    await client.next(Welcome)
    await client.send(Auth(AuthMethod.JWT, key.token(said(exp=time.time() + 0.3))))
    await client.next(Authenticated)
    assert (await client.next(Error)).code == ErrorCode.REVOKED
    with pytest.raises(Closed):
        await client.next()


async def test_nothing_is_taken_while_a_token_is_verified(ruled, key):
    client = await WireClient.connect(ruled.net.where, "ann")
    await client.send(hello("ann"))
    await client.next(Welcome)
    await client.send(Auth(AuthMethod.JWT, key.token(said())), Auth(AuthMethod.JWT, key.token(said())))
    assert (await client.next(Error)).code == ErrorCode.UNEXPECTED_KIND
    assert "ann" not in ruled.net.clients.names


async def test_only_so_many_tokens_wait_and_one_more_is_told_to_come_again(ruled, key, monkeypatch):
    monkeypatch.setattr(verifying, "WAITING_MAX", 0)
    _, answer = await ruled.asks("ann", AuthMethod.JWT, key.token(said()))
    assert answer.code == ErrorCode.FULL
    monkeypatch.setattr(verifying, "WAITING_MAX", 64)
    answers = [await ruled.asks(f"ann/{n}", AuthMethod.JWT, key.token(said())) for n in range(5)]
    assert all(isinstance(answer, Authenticated) for _, answer in answers)
    assert ruled.net.clients.verifying.waiting == 0


async def test_a_client_that_leaves_while_its_token_is_verified_is_no_error(ruled, key, caplog):
    for _ in range(20):
        client = await WireClient.connect(ruled.net.where, "ann")
        await client.send(hello("ann"))
        await client.send(Auth(AuthMethod.JWT, key.token(said())))
        await client.close()
    await ruled.net.until(lambda: not ruled.net.clients.by_connection and not ruled.net.clients.verifying.waiting)
    assert not [record for record in caplog.records if record.exc_info]


async def test_changed_rules_decide_again_by_what_was_proven(ruled, key, tmp_path):
    await ruled.asks("ann", AuthMethod.JWT, key.token(said(groups=["reader"])))
    proof, proofs = ruled.admitted("ann").proof, ruled.net.clients.proofs

    def again(text: str):
        proofs.use(*ruled.read(text))
        return proof.admitted("ann")

    assert again(RULES).roles == {"sensor", "reader"}
    assert again(RULES.replace("roles: sensor, roles_from", "roles: reader, roles_from")).roles == {"reader"}
    assert again(RULES.replace("names: 'ann*'", "names: 'bob'")) is None
    assert again(RULES.replace("tamis:plant", "tamis:other")) is None
    assert again(RULES[: RULES.index("issuers")]) is None
    assert again(RULES.replace("principals:", "principals:\n  ann: {roles: other, certificate: true}")) is None, (
        "a principal"
    )
    assert again(RULES) is not None
    keys_file(tmp_path / "jwks.json", Key("EdDSA").jwk)
    assert again(RULES) is None, "its key was taken away"


# --- certificates --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return Root(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
async def over_tls(ruled, root):
    """over_tls(name, *files, clients=...) -> the offered methods, and the answer to AUTH by the certificate in the
    files."""
    doors = []
    server = root.issue("server", "localhost")

    async def ask(name, *files, clients="required"):
        tls = Tls(certificate=server[0], key=server[1], clients=clients, ca=root.ca)
        [listener] = bind(Address("tcp", host="127.0.0.1", port=0))
        connections, opener = ruled.net.connections, ruled.net.clients
        door = tls_acceptor(
            *(connections, Side.CLIENT, opener, server_context(tls)),
            lambda behind: opener.open(-1, behind.peer, certified_names(behind.transport)),
        )
        doors.append(Acceptor(listener, door, connections.loop, b""))
        context = ssl.create_default_context(cafile=root.ca)
        if files:
            context.load_cert_chain(*files)
        return await ruled.asks(name, AuthMethod.NONE, where=f"tamis+tls://{listener.address}", ssl=context)

    yield ask
    await close_all()
    for door in doors:
        door.close()


@pytest.mark.parametrize(
    ("names", "name", "principal", "roles"),
    [
        (["press"], "press", "press", {"sensor"}),
        (["press"], "press/1", "press", {"sensor"}),
        (["press-7.plant.example"], "press-7.plant.example", "press-7.plant.example", {"sensor", "reader"}),
        (["Press-7.Plant.Example"], "press-7.plant.example/x", "press-7.plant.example", {"sensor", "reader"}),
        (["spiffe://plant/rome/press"], "spiffe://plant/rome/press", "spiffe://plant/rome/press", {"reader"}),
        (["x.example", "press"], "press", "press", {"sensor"}),
    ],
)
async def test_a_certificate_proves_its_names(over_tls, ruled, root, names, name, principal, roles):
    methods, answer = await over_tls(name, *root.issue("client", *names))
    assert methods == (AuthMethod.TOKEN, AuthMethod.JWT, AuthMethod.NONE)
    assert isinstance(answer, Authenticated), answer
    found = ruled.admitted(name)
    assert (found.principal, found.roles, found.until_s) == (principal, roles, None)
    assert found.proof.admitted(name).principal == principal


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["press"], "press2"),
        (["press"], "ann"),
        (["press-7.plant.example"], "press-8.plant.example"),
        (["a.press-7.plant.example"], "a.press-7.plant.example"),
        (["*.plant.example"], "press-7.plant.example"),
        (["*.plant.example"], "*.plant.example"),
        (["plant.example"], "plant.example"),
        (["spiffe://plant/rome/x/press"], "spiffe://plant/rome/x/press"),
    ],
)
async def test_another_name_is_refused(over_tls, root, names, name):
    _, answer = await over_tls(name, *root.issue("client", *names))
    assert answer == Error(ErrorCode.AUTHENTICATION_FAILED, NOT_CERTIFIED, 0x12, True)


@pytest.mark.parametrize("names", [(), ("127.0.0.1",)])
async def test_a_common_name_and_an_address_prove_nothing(over_tls, root, names):
    methods, answer = await over_tls("press", *root.issue("client", *names, common="press"))
    assert methods == (AuthMethod.TOKEN, AuthMethod.JWT), "it has no name that proves anything"
    assert answer.code == ErrorCode.AUTHENTICATION_FAILED


async def test_certificates_of_others_and_old_ones_end_the_handshake(over_tls, ruled, root, tmp_path):
    for files in (Root(tmp_path, "other").issue("client", "press"), root.issue("client", "press", days=-1), ()):
        with pytest.raises((Closed, OSError, ssl.SSLError)):
            await over_tls("press", *files)
    await ruled.net.until(lambda: ruled.net.connections.admissions.refused[Side.CLIENT, Reason.TLS] == 3)
    assert not ruled.net.clients.names


async def test_an_optional_certificate_may_be_left_out(over_tls, root):
    methods, answer = await over_tls("press", clients="optional")
    assert methods == (AuthMethod.TOKEN, AuthMethod.JWT)
    assert answer.code == ErrorCode.AUTHENTICATION_FAILED
    _, answer = await over_tls("press", *root.issue("client", "press"), clients="optional")
    assert isinstance(answer, Authenticated)


# --- a whole router ------------------------------------------------------------------------------------------------


async def test_a_daemon_admits_clients_by_both_and_reads_keys_and_roots_again(process, tmp_path, root, key):
    rules, keys, roots = tmp_path / "rules.yaml", tmp_path / "jwks.json", tmp_path / "ca.pem"
    keys_file(keys, key.jwk)
    roots.write_text(Path(root.ca).read_text())
    rules.touch(0o600)
    rules.write_text(RULES.replace("KEYS", "jwks.json"))
    certificate, private = root.issue("daemon", "localhost")
    tls = {"certificate": certificate, "key": private, "clients": "optional", "ca": str(roots)}
    topology = {"routers": {"a": {"clients": "localhost:0"}}, "access": "rules.yaml", "tls": tls}
    router = process(json.dumps(topology))
    assert router.ready, router.errors
    where = f"tamis+tls://localhost:{router.where.rpartition(':')[2]}"

    def context(*files):
        made = ssl.create_default_context(cafile=root.ca)
        if files:
            made.load_cert_chain(*files)
        return made

    async def admits(name: str, token: bytes | None, *files) -> bool:
        client = tamis.connect(where, name=name, token=token, tls=context(*files))
        try:
            async with client:
                return True
        except tamis.TamisError:
            return False

    press, other = root.issue("press", "press"), Root(tmp_path, "other")
    stranger = other.issue("stranger", "press")
    assert await admits("ann", key.token(said()))
    assert await admits("press", None, *press)
    assert not await admits("press", key.token(said()))
    assert not await admits("ann", None, *press)
    assert not await admits("press", None, *stranger)
    rotated = Key("EdDSA")
    keys_file(keys, rotated.jwk)
    roots.write_text(Path(other.ca).read_text())
    router.signal(signal.SIGHUP)
    async with asyncio.timeout(20):
        while "settings reloaded" not in router.errors:
            await asyncio.sleep(0.01)
    assert await admits("ann", rotated.token(said()))
    assert not await admits("ann", key.token(said()))
    assert await admits("press", None, *stranger)
    assert not await admits("press", None, *press)
    assert "Traceback" not in router.errors


@pytest.mark.parametrize(
    ("keys", "tls", "sentence"),
    [
        ("{}", {}, "jwks.json: it must be a JSON object"),
        (None, {}, "jwks.json: No such file or directory"),
        ("[]", {"clients": "required"}, "needs both `ca` and `clients: required`"),
        ("[]", {"clients": "sometimes", "ca": "c"}, "none, optional or required"),
    ],
)
def test_wrong_keys_and_wrong_keys_of_tls_stop_the_start(process, tmp_path, root, keys, tls, sentence):
    rules = tmp_path / "rules.yaml"
    rules.touch(0o600)
    rules.write_text(RULES.replace("KEYS", "jwks.json"))
    if keys is not None:
        (tmp_path / "jwks.json").write_text(keys)
    files = root.issue("stopped", "localhost")
    whole = {"certificate": files[0], "key": files[1]} | tls
    router = process(json.dumps({"routers": {"a": {"clients": "localhost:0"}}, "access": "rules.yaml", "tls": whole}))
    assert not router.ready
    assert sentence in router.errors


def test_certificates_of_clients_need_rules(process, root):
    files = root.issue("stopped", "localhost")
    tls = {"certificate": files[0], "key": files[1], "clients": "required", "ca": root.ca}
    router = process(json.dumps({"routers": {"a": {"clients": "localhost:0"}}, "tls": tls}))
    assert "tls.clients: needs `access`" in router.errors
