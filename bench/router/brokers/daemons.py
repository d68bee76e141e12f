"""The brokers: how each is started on loopback, and in which words the load generator talks to it.

Law: each is set up for its best at moving messages without storage: no persistence, no per-message log, no limit that
would drop what the load generator's window allows.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tamis.bench.router.brokers import build
from tamis.bench.router.brokers.process import Launch, NotStarted
from tamis.testing import free_port

_SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"  # where Debian puts some of them; not on everybody's path
_RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"  # the one in the path changes the user and the folder
_ROUTER = "pip install 'tamis[router]', a version that has `tamis router`"

FILTERS_PER_CLIENT = 100_000
"""The most that one connection of a measure subscribes to."""


@dataclass(frozen=True, slots=True)
class Broker:
    """`protocol` and `transport` are those of the load generator; `program` says None if it is not installed."""

    name: str
    protocol: str
    how_to_install: str
    program: Callable[[], str | None]
    launch: Callable[[str, Path], Launch]
    transport: str = "tcp"


def _nats(program: str, folder: Path) -> Launch:  # noqa: ARG001 - needs no file
    port = free_port()
    return Launch((program, "--addr", "127.0.0.1", "--port", str(port)), port)


def _redis(program: str, folder: Path) -> Launch:
    port = free_port()
    lines = [f"port {port}", "bind 127.0.0.1", 'save ""', "appendonly no"]
    lines += ["client-output-buffer-limit pubsub 0 0 0", "maxclients 15000"]
    return Launch((program, str(written(folder / "redis.conf", lines))), port)


def _mosquitto(program: str, folder: Path) -> Launch:
    port = free_port()
    lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "persistence false", "log_dest none"]
    lines += ["max_queued_messages 0", "max_inflight_messages 0"]
    return Launch((program, "-c", str(written(folder / "mosquitto.conf", lines))), port)


def _rabbitmq(program: str, folder: Path) -> Launch:
    """With an epmd of its own, which would otherwise be started behind our back and stay."""
    port, epmd_port, nodes_port = free_port(), free_port(), free_port()
    environment = {
        "HOME": str(folder),
        "ERL_EPMD_PORT": str(epmd_port),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": "bench@localhost",
        "RABBITMQ_DIST_PORT": str(nodes_port),
        "RABBITMQ_CONFIG_FILE": str(written(folder / "rabbitmq.conf", [f"listeners.tcp.1 = 127.0.0.1:{port}"])),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(written(folder / "plugins", ["[]."])),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        # Together: in the foreground, in the process that we started, and without a shell.
        "RABBITMQ_ALLOW_INPUT": "1",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput",
    }
    epmd = Launch((found("epmd") or "epmd",), epmd_port, environment)
    return Launch((program,), port, environment, epmd)


def _forward(program: str, folder: Path) -> Launch:  # noqa: ARG001 - needs no file
    port = free_port()
    return Launch((program, str(port)), port)


def _tamis(program: str, folder: Path) -> Launch:
    return launch_router(program, folder, [])


def _tamis_with_tls(program: str, folder: Path) -> Launch:
    certificate, key = make_certificate(folder)
    return launch_router(program, folder, ["tls:", f"  certificate: {certificate}", f"  key: {key}"])


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate and its key, for the occasion: the load generator does not check it."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    made += ["-subj", "/CN=localhost", "-days", "1", "-keyout", str(key), "-out", str(certificate)]
    done = subprocess.run(made, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    if done.returncode:
        raise NotStarted(f"openssl makes no certificate: {done.stderr.strip()}")
    return certificate, key


def launch_router(program: str, folder: Path, more: list[str]) -> Launch:
    """One router, allowed to hold what the largest measure needs."""
    port = free_port()
    lines = ["name: bench", "routers:", "  a:", f"    clients: 127.0.0.1:{port}"]
    lines += ["limits:", f"  filters_per_client: {FILTERS_PER_CLIENT}", f"  memory_bytes: {8 * 1024**3}", *more]
    topology = written(folder / "topology.yaml", lines)
    compiled = {"PYTHONDONTWRITEBYTECODE": ""}  # as where it is installed; from source a start is a fifth longer
    return Launch((program, "router", "--topology", str(topology), "--id", "a"), port, compiled)


def _tamis_command() -> str | None:
    """The command beside this Python, if it can be a router."""
    command = Path(sys.executable).with_name("tamis")
    if not command.exists():
        return None
    asked = [str(command), "router", "--help"]
    can = not subprocess.run(asked, capture_output=True, check=False).returncode  # noqa: S603 - our own command
    return str(command) if can else None


def found(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=_SYSTEM_FOLDERS)


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def package(name: str) -> str:
    return f"apt-get install --no-install-recommends {name}"


BROKERS = {
    broker.name: broker
    for broker in (
        Broker("forward", "plain", "a C compiler", lambda: str(build.forwarder()), _forward),
        Broker("nats", "nats", package("nats-server"), lambda: found("nats-server"), _nats),
        Broker("redis", "redis", package("redis-server"), lambda: found("redis-server"), _redis),
        Broker("mosquitto", "mqtt", package("mosquitto"), lambda: found("mosquitto"), _mosquitto),
        Broker("rabbitmq", "amqp-fanout", package("rabbitmq-server"), lambda: found(_RABBITMQ), _rabbitmq),
        Broker("tamis", "tamis", _ROUTER, _tamis_command, _tamis),
        Broker("tamis-tls", "tamis", _ROUTER, _tamis_command, _tamis_with_tls, transport="tls"),
    )
}
