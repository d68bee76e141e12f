"""A client that goes away and comes back to its broker, over TCP: a daemon that keeps what comes for it.

    away       the client is not connected; a publisher's messages are confirmed when they are on the broker's disk
    killed     in every other absence the broker ends with SIGKILL, and is started again
    back       the client takes what waits, acknowledges it, and nothing more comes

Law: what the client takes is compared with what was published, by number; nothing of the client is remembered by what
judges it.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Final

from tamis.blocking import Client, StoredMessage, connect
from tamis.papers.reproduce.figure import Disagreement, ResultRow
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter

_KEEP: Final = "log"
_CLIENT: Final = "subscriber"
_KEPT: Final = "kept: {bytes: 268435456, segment_bytes: 1048576}"
_PATIENCE_S: Final = 30.0
_QUIET_S: Final = 0.3
"""So long nothing may come after the last message."""


def absences(times: int, messages: int) -> list[ResultRow]:
    """A row for each absence of the client, in which `messages` are published for it."""
    with tempfile.TemporaryDirectory(prefix="tamis-returning-") as folder:
        file = Path(folder) / "broker.yaml"
        file.write_text(f'{_KEPT}\nrouters: {{broker: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
        with blocking.started(file, "broker") as broker:
            with _client(broker, _CLIENT) as client:
                client.durable(_KEEP, "n >= 0")
            return [_absence(broker, absence, messages) for absence in range(times)]


def _client(broker: BlockingRouter, name: str) -> contextlib.AbstractContextManager[Client]:
    return connect(broker.address, name=name, patience_s=_PATIENCE_S)


def _absence(broker: BlockingRouter, absence: int, messages: int) -> ResultRow:
    due = range(absence * messages, (absence + 1) * messages)
    with _client(broker, "publisher") as publisher:
        publisher.publish_many([({"n": n}, b"x" * (n % 97)) for n in due], confirm="stored")
    is_killed = absence % 2 == 1
    if is_killed:
        broker.kill()
        broker.start()
    got, later = _taken(broker, messages)
    return {
        "absence": absence,
        "killed": is_killed,
        "due": messages,
        "missing": len({*due} - {*got}),
        "twice": len(got) - len({*got}),
        "foreign": len({*got} - {*due}) + later,
        "in order": got == sorted(got),
    }


def _taken(broker: BlockingRouter, count: int) -> tuple[list[int], int]:
    """What waits for the client, and how many messages come after the `count` that are due."""
    got: list[int] = []
    later = 0
    with _client(broker, _CLIENT) as client, client.consume(_KEEP) as work:
        for place in range(count):
            message = _kept(work.receive(_PATIENCE_S))
            got.append(int(str(message["n"])))
            message.ack(confirm=place == count - 1)
        with contextlib.suppress(TimeoutError):
            while True:
                work.receive(_QUIET_S)
                later += 1
    return got, later


def _kept(found: object) -> StoredMessage:
    if not isinstance(found, StoredMessage):
        raise Disagreement(f"a broker that lost nothing reports {found} in place of a message")
    return found
