"""The compose file with a real engine: built, up, messages across links, a cut, a death, and all gone."""

from __future__ import annotations

import os
import re
import sys

import pytest

from tamis.cli.main import main
from tests.long.conftest import PROJECT, ROOT, Ring, until

pytestmark = pytest.mark.long

RING = ROOT / "configs" / "topologies" / "ring5.yaml"


def test_a_ring_in_containers(ring: Ring) -> None:
    ring.comes_up()
    the_image_is_as_promised(ring)
    messages_go_where_they_are_wanted(ring)
    ports_are_published(ring)
    a_cut_is_healed(ring)
    a_death_is_survived(ring)
    ring.goes_and_leaves_nothing()


def test_containers_ask_for_the_credentials_of_their_topology(ring: Ring) -> None:
    folder = ring.folder / "guarded"
    folder.mkdir()
    (folder / "network.yaml").write_text(GUARDED)
    for name, text in (("tokens", "* of-anybody\n"), ("ab.key", "x" * 32), ("token", "of-anybody\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
        os.chown(folder / name, 4_242, 4_242)
    assert main(["compose", str(folder / "network.yaml"), "-o", str(folder / "docker-compose.yml")]) == 0
    guarded = Ring(ring.engine, folder)
    guarded.compose("up", "-d")
    until(lambda: guarded.is_healthy("a", "b") and guarded.links_up("a") == {"b"})
    inside = ["exec", guarded.container("a"), "tamis", "pub", "x=1", "--confirm"]
    assert "requires a token" in guarded.engine.ran("docker", *inside).stderr
    guarded.docker("cp", str(folder / "token"), f"{guarded.container('a')}:/var/lib/tamis/token")
    guarded.docker(*inside, "--token-file", "/var/lib/tamis/token")
    assert guarded.docker("exec", guarded.container("a"), "id", "-u").strip() == "4242"
    guarded.goes_and_leaves_nothing()


GUARDED = """
tokens: tokens
routers: {a: {clients: '127.0.0.1:1', neighbours: '127.0.0.1:2'}, b: {clients: '127.0.0.1:3'}}
links: [{ends: [a, b], secret: ab.key}]
"""


def the_image_is_as_promised(ring: Ring) -> None:
    inside = ["exec", ring.container("a")]
    assert ring.docker(*inside, "id", "-u").strip() == "10001"
    assert ring.engine.ran("docker", *inside, "touch", "/etc/x").stderr.endswith("Read-only file system\n")
    assert "docker-init" in ring.docker("top", ring.container("a"), "-o", "pid,cmd")
    ring.docker(*inside, "tamis", "check", "/etc/tamis/network.yaml")


def messages_go_where_they_are_wanted(ring: Ring) -> None:
    ring.publish("b", "n=0", "class=heartbeat", "severity=9", "device=db-none")
    ring.arrives("b", "on-call", "web-first")
    ring.arrives("b", "web-team", "web-first")
    ring.arrives("b", "on-call", "db-grave")
    graves, webs = ring.shown("on-call"), ring.shown("web-team")
    assert all(re.search(r": alert, severity [789], ", line) for line in graves)
    assert all(", web-" in line for line in webs)
    assert any("db-grave" in line for line in graves)
    assert not any("none" in line for line in graves + webs)


def ports_are_published(ring: Ring) -> None:
    """The file's own, so that commands find the routers by it as if they ran here."""
    enter = ["nsenter", "--net", "--target", str(ring.engine.pid), sys.executable, "-m", "tamis.cli.main"]
    assert ring.engine.run(*enter, "status", RING).count(" serving ") == 5
    ring.engine.run(*enter, "pub", "tamis://127.0.0.1:7402", "x=1", "--confirm")


def a_cut_is_healed(ring: Ring) -> None:
    """Without c the way from b to d is b-a-e-d."""
    ring.docker("network", "disconnect", f"{PROJECT}_default", ring.container("c"))
    until(lambda: ring.links_up("b") == {"a"} and ring.links_up("d") == {"e"})
    ring.arrives("b", "web-team", "web-around")
    ring.docker("network", "connect", "--alias", "c", f"{PROJECT}_default", ring.container("c"))
    until(lambda: ring.links_up("c") == set("abd"))
    ring.arrives("e", "on-call", "web-again")


def a_death_is_survived(ring: Ring) -> None:
    before = ring.status("d")["epoch"]
    ring.docker("kill", ring.container("d"))
    until(lambda: ring.links_up("c") == set("ab"))
    ring.compose("up", "-d", "d")
    until(lambda: ring.is_healthy("d") and ring.links_up("d") == set("ce"))
    assert ring.status("d")["epoch"] > before
    ring.arrives("b", "web-team", "web-reborn")
