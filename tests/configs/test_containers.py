"""A topology in containers: the same network, at other addresses."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.configs import load_topology, parse_topology
from tamis.configs.address import parse_address
from tamis.configs.containers import CONFIG, containers, in_containers, service_names
from tamis.configs.fields import ID_FORM
from tamis.protocol.errors import ConfigError

EXAMPLES = sorted((Path(__file__).parents[2] / "configs" / "topologies").glob("*.yaml"))
USER = 12_345


@pytest.fixture(name="owned")
def _owned(monkeypatch, tmp_path):
    """Files of a user that is not root, whoever runs the tests."""
    status = Path.stat

    def stat(path: Path, **more: bool) -> os.stat_result:
        found = list(status(path, **more))
        if path.is_relative_to(tmp_path):
            found[4] = found[5] = USER
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", stat)


def contained(topology):
    return parse_topology(yaml.safe_dump(in_containers(topology)))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_network_stays_the_same(file):
    before = load_topology(file)
    after = contained(before)
    assert after.edges == before.edges
    assert [after.dialler(link) for link in after.links] == [before.dialler(link) for link in before.links]
    for router_id in before.routers:
        old, new = before.router(router_id), after.router(router_id)
        assert (new.engine, new.limits, new.keepalive) == (old.engine, old.limits, old.keepalive)
        assert (str(new.clients[0]), str(new.admin)) == ("0.0.0.0:7400", "0.0.0.0:7600")
        assert new.data == f"/var/lib/tamis/{router_id}"
        assert new.dial is None or str(new.dial) == f"{new.machine}:7500"


def test_a_router_that_only_dials_still_does():
    after = contained(parse_topology("routers: {a: {neighbours: 'h:0'}, b: {neighbours: 'h:1'}}\nlinks: [[a, b]]"))
    assert after.dialler(after.links[0]) == "a"
    assert after.router("a").neighbours == ()


def test_services_are_called_as_their_routers_where_they_can_be():
    ids = ["a", "A", "x.y_z", "10", "localhost", "_", "__", "n" * 64, "router-10"]
    assert list(service_names(ids).values()) == [
        *("a", "a-2", "x-y-z", "router-10", "router-localhost", "router", "router-2", f"router-{'n' * 50}"),
        "router-10-2",
    ]


@given(st.lists(st.from_regex(re.compile(ID_FORM, re.ASCII), fullmatch=True), unique=True, max_size=8))
@example(["a" * 63, "A" * 63, "a" * 62 + "_a"])
def test_services_have_names_that_hosts_can_have(ids):
    names = service_names(ids)
    assert list(names) == ids
    assert len(set(names.values())) == len(ids)
    for name in names.values():
        assert parse_address(f"{name}:1").host == name
        assert re.fullmatch("[a-z][a-z0-9-]{0,62}", name)


def test_ports_are_published_to_this_machine_once():
    text = """
        routers:
          a: {clients: ['0.0.0.0:7400', '127.0.0.1:7401', 'unix:a.sock'], admin: '0.0.0.0:7600', machine: one}
          b: {clients: ['0.0.0.0:7400'], admin: 'unix:b.sock', machine: two}
          c: {clients: '127.0.0.1:0', machine: two}
          d: {machine: two, admin: 'd:9'}
        links: [[a, b], [b, c], [c, d]]
    """.replace("machine: t", "neighbours: 'h:0', machine: t").replace("h:0", "127.0.0.1:0")
    text = text.replace("neighbours: '127.0.0.1:0', ", "reached_at: 'h:1', ")
    found = {container.service: container.ports for container in containers(parse_topology(text))}
    assert found == {
        "a": ("127.0.0.1:7400:7400", "127.0.0.1:7401:7400", "127.0.0.1:7600:7600"),
        "b": ("127.0.0.1::7400",),
        "c": ("127.0.0.1::7400",),
        "d": ("127.0.0.1:9:7600",),
    }


CREDENTIALS = """
tokens: tokens
routers:
  a: {clients: '0.0.0.0:7400', admin: '0.0.0.0:7600', neighbours: '10.0.0.1:7500', tokens: mine}
  b: {clients: '127.0.0.1:7402', tls: {certificate: b.pem, key: b.key}}
links: [{ends: [a, b], secret: ab.key}]
"""


@pytest.fixture(name="guarded")
def _guarded(tmp_path):
    for name in ("tokens", "mine", "b.pem", "b.key", "ab.key"):
        (tmp_path / name).touch()
    (tmp_path / "network.yaml").write_text(CREDENTIALS)
    return tmp_path / "network.yaml"


@pytest.mark.usefixtures("owned")
def test_credentials_are_mounted_at_one_place(guarded):
    topology = load_topology(guarded)
    a, b = containers(topology)
    folder = guarded.parent
    assert {(mount.source, mount.target, mount.is_private) for mount in b.mounts} == {
        (f"{folder}/tokens", f"{CONFIG}/tokens", True),
        (f"{folder}/b.pem", f"{CONFIG}/tls.certificate", False),
        (f"{folder}/b.key", f"{CONFIG}/tls.key", True),
        (f"{folder}/ab.key", f"{CONFIG}/links.0.secret", True),
    }
    assert {mount.source for mount in a.mounts} == {f"{folder}/mine", f"{folder}/ab.key"}
    assert a.user == b.user == f"{USER}:{USER}"
    for container, settings in ((a, contained(topology).router("a")), (b, contained(topology).router("b"))):
        used = {settings.tokens, settings.links[0].secret}
        used |= {settings.tls.certificate, settings.tls.key} if settings.tls else set()
        assert used == {mount.target for mount in container.mounts}


@pytest.mark.usefixtures("owned")
def test_who_asks_for_tokens_may_be_reached_from_elsewhere(guarded):
    assert [container.ports for container in containers(load_topology(guarded))] == [
        ("7400:7400", "127.0.0.1:7600:7600"),
        ("127.0.0.1:7402:7400",),
    ]


def test_a_credential_that_is_not_there(guarded):
    (guarded.parent / "ab.key").unlink()
    (guarded.parent / "mine").unlink()
    with pytest.raises(ConfigError, match="No such file"):
        containers(load_topology(guarded))


@pytest.mark.usefixtures("owned")
def test_a_credential_of_root(guarded, monkeypatch):
    monkeypatch.setitem(globals(), "USER", 0)
    with pytest.raises(ConfigError, match="no container runs as root: chown 10001:10001"):
        containers(load_topology(guarded))


@pytest.mark.usefixtures("owned")
def test_roots_of_clients_are_mounted_and_keys_of_issuers_are_not_yet(tmp_path: Path) -> None:
    for name in ("c", "k", "roots"):
        (tmp_path / name).write_text("")
    rules = "access: {roles: {r: {publish: true}}, principals: {p: {roles: r, certificate: true}}}"
    text = f"{rules}\ntls: {{certificate: c, key: k, clients: required, ca: roots}}\nrouters: {{a: {{}}}}\n"
    (tmp_path / "net.yaml").write_text(text)
    topology = load_topology(tmp_path / "net.yaml")
    [one] = containers(topology)
    assert {mount.source: mount.is_private for mount in one.mounts} == {
        str(tmp_path / "c"): False,
        str(tmp_path / "k"): True,
        str(tmp_path / "roots"): False,
    }
    assert contained(topology).tls.ca == f"{CONFIG}/tls.ca"
    (tmp_path / "net.yaml").write_text(text.replace("principals:", "issuers: {i: {keys: k}}, principals:"))
    with pytest.raises(ConfigError, match="no issuers"):
        in_containers(load_topology(tmp_path / "net.yaml"))
