"""The repository in a container engine of the tests' own, with its image built."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engine import PATIENCE_S, Engine, engine

ROOT = Path(__file__).parents[2]
NOT_BUILT_FROM = (".venv", ".git", "build", "dist", "wheels", "__pycache__", ".*_cache", "*.egg-info", "*.so")
PROJECT = "tamistest"
NEIGHBOURS = {"a": "bce", "b": "ac", "c": "abd", "d": "ce", "e": "ad"}


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

    def comes_up(self) -> None:
        self.compose("up", "-d")
        until(lambda: self.is_healthy(*NEIGHBOURS))
        until(lambda: all(self.links_up(router) == set(others) for router, others in NEIGHBOURS.items()))

    def publish(self, service: str, *words: str) -> None:
        """From inside the container of a router, which needs no network to be reached."""
        self.docker("exec", self.container(service), "tamis", "pub", *words, "--confirm")

    def status(self, service: str) -> dict:
        """Return nothing while no router of the network answers."""
        command = ("docker", "exec", self.container(service), "tamis", "status", "--json")
        return json.loads(self.engine.ran(*command).stdout or "{}")

    def links_up(self, service: str) -> set[str]:
        links = self.status(service).get("network", {}).get("links", ())
        return {link["neighbour"] for link in links if link["state"] == "up"}

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

    def goes_and_leaves_nothing(self, *profile: str) -> None:
        self.compose(*profile, "down", "--volumes")
        for kind in (("ps", "-a"), ("volume", "ls"), ("network", "ls", "--filter", f"name={PROJECT}")):
            assert self.docker(*kind, "-q") == ""


def until(is_so: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Each look is a process that takes its time."""
    end_s = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end_s


def copied_repository(to: Path) -> Path:
    """With the wheels of a router."""
    context = to / "repository"
    shutil.copytree(ROOT, context, ignore=shutil.ignore_patterns(*NOT_BUILT_FROM))
    built_wheels(context, "router")
    return context


def built_wheels(context: Path, extras: str) -> None:
    """As `make wheels`: the build of the image has no network."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "-c", "constraints.txt"]
    subprocess.run([*pip, "-w", "wheels", f".[{extras}]"], cwd=context, check=True)  # noqa: S603 - our own


@pytest.fixture(name="ring", scope="session")
def _ring() -> Iterator[Ring]:
    with engine() as found:
        found.import_base()
        ring = Ring(found, copied_repository(found.folder))
        ring.compose("build")
        yield ring
