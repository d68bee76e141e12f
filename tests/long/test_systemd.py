"""The how-to of systemd, pasted into a machine that systemd runs: a container of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tamis.router.daemon.exit_codes import CANNOT_START
from tests.docs.commands import ROOT, blocks
from tests.engine import BASE, Engine, engine
from tests.long.conftest import copied_repository, until

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "how-to" / "systemd.md").read_text()
BLOCKS = ["\n".join(block.lines) for block in blocks(PAGE) if "needs root" in block.reason]
UNIT = "tamis-router@a"
HOST = "host"
GIVEN = ("--cap-add=ALL", "--cap-drop=SYS_RESOURCE", "--security-opt=seccomp=unconfined")
"""What the unit takes away must be there before. A test that is itself confined cannot give SYS_RESOURCE."""
OWN = ("--cgroupns=private", "--tmpfs=/run", "--tmpfs=/tmp", "--env=container=docker")
"""By which systemd knows that the machine is a container, and meets no other systemd."""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine, and its shell of root."""

    engine: Engine

    def paste(self, script: str) -> str:
        """What all of the script prints; each of its commands has to succeed."""
        done = self.engine.ran("docker", "exec", HOST, "sh", "-ec", script)
        assert done.returncode == 0, f"{script}: {done.stdout}{done.stderr}{self.journal()}"
        return done.stdout

    def fails(self, command: str) -> bool:
        return self.engine.ran("docker", "exec", HOST, "sh", "-c", command).returncode != 0

    def journal(self) -> str:
        return self.engine.ran("docker", "exec", HOST, "journalctl", "-u", UNIT, "-o", "cat", "--no-pager").stdout

    def unit(self) -> dict[str, str]:
        """What systemd says of it."""
        keys = "ActiveState,Result,NRestarts,ExecMainStatus,MainPID"
        return dict(line.split("=", 1) for line in self.paste(f"systemctl show -p {keys} {UNIT}").splitlines())

    def is_ready(self) -> bool:
        return self.unit()["ActiveState"] == "active" and not self.fails("tamis status")

    def publish(self, token: str) -> bool:
        """Whether the router lets its client `press-1` in with this token."""
        self.paste(f"echo '{token}' > /tmp/token; chmod 600 /tmp/token")
        return not self.fails("tamis pub x=1 --confirm --name press-1 --token-file /tmp/token")


@pytest.fixture(name="host")
def _host() -> Iterator[Host]:
    with engine() as found:
        found.import_base("systemd", "openssl")
        if found.ran("docker", "run", "--rm", BASE, "test", "-x", "/lib/systemd/systemd").returncode != 0:
            pytest.skip("the image of TAMIS_TEST_BASE has no systemd")
        wheels = copied_repository(found.folder) / "wheels"
        options = ("--detach", "--tty", "--name", HOST, *GIVEN, *OWN, "--volume", f"{wheels}:/wheels:ro")
        found.run("docker", "run", *options, BASE, "/lib/systemd/systemd")
        try:
            until(lambda: found.ran("docker", "exec", HOST, "systemctl", "is-system-running").stdout == "running\n")
            yield Host(found)
        finally:
            found.run("docker", "rm", "--force", HOST)


def test_a_router_that_systemd_keeps(host: Host) -> None:
    it_is_installed_and_starts(host)
    it_may_do_nothing_but_serve(host)
    it_is_started_again_when_it_is_killed(host)
    it_reads_its_settings_again(host)
    it_is_restarted_and_stopped(host)
    a_mistake_in_its_file_is_told_once(host)


def it_is_installed_and_starts(host: Host) -> None:
    install, topology, service, *_ = BLOCKS
    assert "pip install" in install
    host.paste(install.replace("pip install", "pip install --no-index --find-links /wheels"))
    assert "network.yaml: 1 router" in host.paste(topology)
    assert "Active: active (running)" in host.paste(f"export SYSTEMD_PAGER=\n{service}")
    assert host.publish(host.paste("cut -d ' ' -f 2 /etc/tamis/tokens").strip())
    assert not host.publish("another")


def it_may_do_nothing_but_serve(host: Host) -> None:
    status = host.paste(f"cat /proc/{host.unit()['MainPID']}/status")
    for line in ("CapBnd:\t0000000000000000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in status.splitlines()
    written = host.paste("stat -c '%U %a %n' /var/lib/tamis /var/lib/tamis/data /var/lib/tamis/records")
    assert [line.split()[0] for line in written.splitlines()] == ["tamis"] * 3
    security = host.paste(f"systemd-analyze security --no-pager {UNIT}")
    [exposure] = re.findall(rf"Overall exposure level for {UNIT}.service: ([0-9.]+) OK", security)
    assert float(exposure) <= 1.4


def it_is_started_again_when_it_is_killed(host: Host) -> None:
    before = host.unit()
    host.paste(f"kill -KILL {before['MainPID']}")
    until(lambda: host.unit()["NRestarts"] == "1" and host.is_ready())
    assert host.unit()["MainPID"] != before["MainPID"]


def it_reads_its_settings_again(host: Host) -> None:
    before = host.unit()
    host.paste("echo 'press-1 another' > /etc/tamis/tokens")
    host.paste(f"systemctl reload {UNIT}")
    until(lambda: host.publish("another"))
    assert host.unit() == before


def it_is_restarted_and_stopped(host: Host) -> None:
    before = host.unit()
    host.paste(f"systemctl reset-failed {UNIT}\nsystemctl restart {UNIT}")
    assert host.is_ready()
    assert host.unit()["MainPID"] != before["MainPID"]
    host.paste(f"systemctl stop {UNIT}")
    assert host.unit() == before | {"ActiveState": "inactive", "NRestarts": "0", "MainPID": "0"}
    assert '"message": "stopped", "flushed": true' in host.journal()


def a_mistake_in_its_file_is_told_once(host: Host) -> None:
    host.paste("sed -i 's/127.0.0.1:7400/127.0.0.1:none/' /etc/tamis/network.yaml")
    assert host.fails(f"systemctl start {UNIT}")
    found = host.unit()
    assert (found["ActiveState"], found["ExecMainStatus"], found["NRestarts"]) == ("failed", str(CANNOT_START), "0")
    assert host.journal().count("routers.a.clients: must be host:port") == 1
    host.paste("sed -i 's/127.0.0.1:none/127.0.0.1:7400/' /etc/tamis/network.yaml")
    host.paste(f"systemctl reset-failed {UNIT}\nsystemctl start {UNIT}")
    assert host.is_ready()
