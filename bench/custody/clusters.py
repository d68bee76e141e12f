"""Three processes that store messages together, on one disk: Tamis routers, nats-servers with JetStream, redis-servers,
rabbitmq-servers.

Law: each contender says what its confirmation means. What is started here is gone afterwards, and nothing is measured
before the processes know each other.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tamis.bench.custody.rabbitmq import rabbitmq_cluster
from tamis.bench.durable.daemons import KEEPERS
from tamis.bench.router.brokers.daemons import BROKERS, written
from tamis.bench.router.brokers.process import Launch, NotStarted, running
from tamis.protocol.wire.header import Flags
from tamis.testing import NotReady, RouterNetwork, free_port, ring
from tamis.testing import running as routers

GIB: Final = 2**30
MEMBERS: Final = ("a", "b", "c")
READY_S: Final = 60.0
QUIET_S: Final = 0.5
DURABLE: Final = {"bytes": 8 * GIB, "memory_bytes": GIB // 16, "custody": {"bytes": 4 * GIB, "share": 1.0}}


@dataclass(frozen=True, slots=True)
class Member:
    port: int
    pid: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where messages are published, and where they are stored as well, or instead. `store_at`: the port at which the
    store is created. `stored`: waits until the home has this number of messages, and returns the number that it has;
    None: it is not asked."""

    entry: Member
    home: Member
    store_at: int
    stored: Callable[[int], int] | None = None


@dataclass(frozen=True, slots=True)
class Contender:
    """`protocol` is that of the load generator; `program` returns None where it cannot be measured, and `needs` says
    why. `window`: messages without a confirmation."""

    name: str
    protocol: str
    needs: str
    program: Callable[[], str | None]
    started: Callable[[str, Path], AbstractContextManager[Cluster]]
    window: int = 8_192


# ---- Tamis ----


@contextmanager
def _tamis(home: str, _: str, folder: Path) -> Iterator[Cluster]:
    """Three routers in a ring: a is the entry."""
    with asyncio.Runner() as runner:
        started = routers(folder, ring(*MEMBERS, durable=DURABLE))
        try:
            network = runner.run(started.__aenter__())
        except NotReady as error:
            raise NotStarted(str(error)) from None
        try:
            runner.run(_linked(network))
            entry, other = (Member(network[name].port, network[name].pid) for name in ("a", home))
            yield Cluster(entry, other, other.port, lambda count: runner.run(_stored(network, home, count)))
        finally:
            runner.run(started.__aexit__(None, None, None))


async def _linked(network: RouterNetwork) -> None:
    await network.until_linked()
    await network.until_at_rest(QUIET_S, READY_S)


async def depth(network: RouterNetwork, name: str) -> int:
    """Return how many messages are stored at a router for durable subscriptions."""
    return int((await network[name].ask("/status"))["durable"]["depth"])


async def _stored(network: RouterNetwork, home: str, count: int) -> int:
    end_s = time.monotonic() + READY_S
    while (found := await depth(network, home)) < count and time.monotonic() < end_s:
        await asyncio.sleep(0.05)
    return found


def _held_program() -> str | None:
    """Tamis, if this version has the flag that asks every home."""
    return BROKERS["tamis"].program() if "EVERY_HOME" in Flags.__members__ else None


# ---- JetStream ----


@contextmanager
def _jetstream(sync: str, program: str, folder: Path) -> Iterator[Cluster]:
    """Three servers; a stream of three replicas, which each may lead."""
    ports, routes = [[free_port() for _ in MEMBERS] for _ in range(2)]
    every = ", ".join(f"nats://127.0.0.1:{port}" for port in routes)
    with ExitStack() as stack:
        members = []
        for name, port, route in zip(MEMBERS, ports, routes, strict=True):
            (own := folder / name).mkdir()
            lines = [f"server_name: {name}", f"listen: 127.0.0.1:{port}"]
            lines += ["jetstream {", f'store_dir: "{own / "store"}"', "max_file: 8GB", sync, "}"]
            lines += ["cluster {", "name: bench", f"listen: 127.0.0.1:{route}", f"routes: [{every}]", "}"]
            launch = Launch((program, "-c", str(written(own / "nats.conf", lines))), port)
            daemon = stack.enter_context(running(launch, own))
            members.append(Member(daemon.port, daemon.pid))
        _until_replicated(ports[0])
        yield Cluster(members[0], members[1], members[0].port)


def _until_replicated(port: int) -> None:
    """Wait until the servers make a stream of three replicas."""
    settings = {"name": "probe", "subjects": ["probe"], "storage": "file", "num_replicas": len(MEMBERS)}
    end_s = time.monotonic() + READY_S
    while "error" in (answer := _asked(port, "STREAM.CREATE.probe", json.dumps(settings))):
        if time.monotonic() > end_s:
            raise NotStarted(f"JetStream makes no stream of {len(MEMBERS)} replicas: {answer['error']}")
        time.sleep(0.2)
    _asked(port, "STREAM.DELETE.probe", "")


def _asked(port: int, what: str, body: str) -> dict[str, Any]:
    """Return JetStream's answer to a request."""
    said = f"CONNECT {{}}\r\nSUB _INBOX.r 1\r\nPUB $JS.API.{what} _INBOX.r {len(body)}\r\n{body}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection, connection.makefile("rwb") as file:
        file.write(said.encode())
        file.flush()
        try:
            while line := file.readline():
                if line.startswith(b"MSG "):
                    answer: dict[str, Any] = json.loads(file.read(int(line.split()[-1])))
                    return answer
        except TimeoutError:
            pass
    return {"error": "no answer"}


# ---- Redis ----


@contextmanager
def _redis(program: str, folder: Path) -> Iterator[Cluster]:
    """A primary and two replicas, each of which syncs what it has taken."""
    with ExitStack() as stack:
        members: list[Member] = []
        for name in MEMBERS:
            (own := folder / name).mkdir()
            port = free_port()
            lines = [f"port {port}", "bind 127.0.0.1", 'save ""', "appendonly yes", "appendfsync always", f"dir {own}"]
            lines += [f"replicaof 127.0.0.1 {members[0].port}"] if members else ["repl-diskless-sync-delay 0"]
            launch = Launch((program, str(written(own / "redis.conf", lines))), port)
            daemon = stack.enter_context(running(launch, own))
            members.append(Member(daemon.port, daemon.pid))
        _until_replicas_are_online(members[0].port)
        yield Cluster(members[0], members[1], members[0].port)


def _until_replicas_are_online(port: int) -> None:
    end_s = time.monotonic() + READY_S
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        said = b""
        while said.count(b"state=online") < len(MEMBERS) - 1:
            if time.monotonic() > end_s:
                raise NotStarted(f"the replicas of redis are not online within {READY_S:.0f} s")
            connection.sendall(b"INFO replication\r\n")
            time.sleep(0.2)
            said = connection.recv(1 << 16)


# ---- RabbitMQ ----


@contextmanager
def _rabbitmq(program: str, folder: Path) -> Iterator[Cluster]:
    """Three servers; a queue or a stream has a replica at each, and its leader where it is declared."""
    with rabbitmq_cluster(program, folder, MEMBERS) as servers:
        members = [Member(server.port, server.pid) for server in servers]
        yield Cluster(members[0], members[1], members[0].port)


_TAMIS: Final = BROKERS["tamis"]
_RABBITMQ: Final = BROKERS["rabbitmq"]
_REDIS: Final = KEEPERS["redis-synced"]
_NATS, _NATS_SYNCED = KEEPERS["jetstream"], KEEPERS["jetstream-synced"]
_HELD: Final = "a version of Tamis with confirm='held'"

CONTENDERS: Final = {
    each.name: each
    for each in (
        Contender("own", "tamis-kept", _TAMIS.how_to_install, _TAMIS.program, partial(_tamis, "a")),
        Contender("stored", "tamis-kept", _TAMIS.how_to_install, _TAMIS.program, partial(_tamis, "b")),
        Contender("held", "tamis-held", _HELD, _held_program, partial(_tamis, "b")),
        Contender("jetstream", "jetstream-r3", _NATS.how_to_install, _NATS.program, partial(_jetstream, "")),
        Contender(
            *("jetstream-synced", "jetstream-r3", _NATS_SYNCED.how_to_install, _NATS_SYNCED.program),
            partial(_jetstream, "sync_interval: always"),
            window=256,
        ),
        Contender("redis-wait", "redis-wait", _REDIS.how_to_install, _REDIS.program, _redis, window=256),
        Contender("rabbitmq-quorum", "amqp-quorum", _RABBITMQ.how_to_install, _RABBITMQ.program, _rabbitmq),
        Contender("rabbitmq-stream", "amqp-streams", _RABBITMQ.how_to_install, _RABBITMQ.program, _rabbitmq),
    )
}
"""`own`: stored at the router of the durable subscription; `stored`: at the entry, for another router; `held`: on the
disk of that one. JetStream: at two of three, and `-synced`: on their disks. Redis: on the disks of the primary and of
one replica. RabbitMQ: two of three replicas have it, a queue's on their disks and a stream's whenever the system
writes."""
OF_TAMIS: Final = ("own", "stored", "held")
