"""The compose file with a real engine: built, up, messages across links, a cut, a death, and all gone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tamis.cli.main import main
from tests.engine import PATIENCE_S, Engine, engine

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
RING = ROOT / "configs" / "topologies" / "ring5.yaml"
NOT_BUILT_FROM = (".venv", ".git", "build", "dist", "wheels", "__pycache__", ".*_cache", "*.egg-info", "*.so")
PROJECT = "tamistest"


@dataclass(frozen=True, slots=True)
class Ring:
    """The project that docker-compose.yml describes, in a copy of this repository."""

    engine: Engine
    folder: Path

    def compose(self, *words: str) -> str:
        return self.engine.run("docker-compose", "-p", PROJECT, *words, cwd=self.folder)

    def docker(self, *words: str) -> str:
        return self.engine.run("docker", *words)

    def container(self, service: str) -> str:
        """Whatever this version of compose calls it."""
        labels = (f"label=com.docker.compose.{key}" for key in (f"project={PROJECT}", f"service={service}"))
        return self.docker("ps", "-aq", *(word for label in labels for word in ("--filter", label))).strip()

    def publish(self, service: str, *words: str) -> None:
        """From inside the container of a router, which needs no network to be reached."""
        self.docker("exec", self.container(service), "tamis", "pub", *words, "--confirm")

    def status(self, service: str) -> dict:
        return json.loads(
            self.engine.ran("docker", "exec", self.container(service), "tamis", "status", "--json").stdout
        )

    def links_up(self, service: str) -> set[str]:
        return {link["neighbour"] for link in self.status(service)["network"]["links"] if link["state"] == "up"}

    def is_healthy(self, *services: str) -> bool:
        names = map(self.container, services)
        return set(self.docker("inspect", "-f", "{{.State.Health.Status}}", *names).split()) == {"healthy"}

    def shown(self, service: str) -> list[str]:
        return re.findall(r"^no\. .*", self.docker("logs", self.container(service)), re.MULTILINE)

    def arrives(self, service: str, at: str, device: str) -> None:
        """Until the subscriber `at`, who may be on the way back, shows what is published at a router."""

        def is_shown() -> bool:
            self.publish(service, "n=0", "class=alert", "severity=9", f"device={device}")
            return any(device in line for line in self.shown(at))

        until(is_shown)


def until(is_so: Callable[[], object]) -> None:
    """Each look is a process that takes its time."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s


def built_wheels(context: Path) -> None:
    """As `make wheels`, whose packages of others are taken if they are there; the build of the image has no network."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "-c", "constraints.txt"]
    if (ROOT / "wheels").exists():
        shutil.copytree(ROOT / "wheels", context / "wheels", ignore=shutil.ignore_patterns("tamis-*"))
        pip.append("--no-deps")
    subprocess.run([*pip, "-w", "wheels", ".[router]"], cwd=context, check=True)  # noqa: S603 - our own


@pytest.fixture(name="ring", scope="module")
def _ring() -> Iterator[Ring]:
    with engine() as found:
        context = found.folder / "repository"
        shutil.copytree(ROOT, context, ignore=shutil.ignore_patterns(*NOT_BUILT_FROM))
        built_wheels(context)
        found.import_base()
        ring = Ring(found, context)
        ring.compose("build")
        yield ring


def test_a_ring_in_containers(ring: Ring) -> None:
    ring.compose("up", "-d")
    until(lambda: ring.is_healthy(*"abcde"))
    until(lambda: all(ring.links_up(router) == set(neighbours) for router, neighbours in NEIGHBOURS.items()))
    the_image_is_as_promised(ring)
    messages_go_where_they_are_wanted(ring)
    ports_are_published(ring)
    a_cut_is_healed(ring)
    a_death_is_survived(ring)
    nothing_is_left(ring)


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
    assert "asks for a token" in guarded.engine.ran("docker", *inside).stderr
    guarded.docker("cp", str(folder / "token"), f"{guarded.container('a')}:/var/lib/tamis/token")
    guarded.docker(*inside, "--token-file", "/var/lib/tamis/token")
    assert guarded.docker("exec", guarded.container("a"), "id", "-u").strip() == "4242"
    nothing_is_left(guarded)


GUARDED = """
tokens: tokens
routers: {a: {clients: '127.0.0.1:1', neighbours: '127.0.0.1:2'}, b: {clients: '127.0.0.1:3'}}
links: [{ends: [a, b], secret: ab.key}]
"""
NEIGHBOURS = {"a": "bce", "b": "ac", "c": "abd", "d": "ce", "e": "ad"}


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


def nothing_is_left(ring: Ring) -> None:
    ring.compose("down", "--volumes")
    for kind in (("ps", "-a"), ("volume", "ls"), ("network", "ls", "--filter", f"name={PROJECT}")):
        assert ring.docker(*kind, "-q") == ""
