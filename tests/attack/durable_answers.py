"""ACKs that ask for an answer: who makes a router hold answers for the disk, and who waits for one that never comes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from tests.attack.figure import Figure
from tests.stranger import frames
from tests.stranger.client import Ended, Stranger
from tests.stranger.frames import EQ, frame
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router

CREATE_DURABLE, CONSUME = 0x25, 0x26
OF_PUBLISH, OF_DELIVER, OF_DURABLE, OF_CONSUME = 3, 4, 5, 6
ASKED_STORED = frames.CONFIRM | frames.DURABLE
OVER_LIMIT = 8
DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576}"
RANGES = 5_000
"""Of one ACK of the attack: 90 KB, of which its answer is a copy."""
ASKED = 40
"""ACKs of an honest consumer while the attack goes on."""
PATIENCE_S = 5.0


class Consumer(Stranger):
    """Return a consumer of a durable subscription of the router, with id 1 and no credit."""

    def __init__(self, router: Router, name: str) -> None:
        super().__init__(*router.clients, name, patience_s=PATIENCE_S)
        self.ask(CREATE_DURABLE, "jobs", [[packed([["kind", EQ, "job"]])]], of=OF_DURABLE)
        self.ask(CONSUME, 1, "jobs", 0, of=OF_CONSUME)

    def ask(self, kind: int, *fields: object, of: int) -> None:
        request = self.request()
        self.send(frame(kind, [request, *fields]))
        got_of, got_request, *more = self.expect(frames.ACK)
        assert (got_of, got_request) == (of, request), more
        assert len(more) < 2 or not more[1], more

    def acknowledge(self, ranges: list[list[int]]) -> bytes:
        """A frame that says nothing new."""
        return frame(frames.ACK, [OF_DELIVER, self.request(), ranges, [], 0, 1])

    def is_answered(self) -> bool:
        """Is an ACK that changes nothing?"""
        try:
            self.send(self.acknowledge([[1, 2]]))
            return bool(self.expect(frames.ACK)[0] == OF_DELIVER)
        except (TimeoutError, Ended):
            return False


def _resident_mib(router: Router) -> float:
    return router.metrics()["process_resident_memory_bytes"] / 2**20


def _sent(attacker: Consumer, data: bytes, count: int, between: Callable[[], None]) -> int:
    """The attacker sends until it is cut off, and reads nothing. How many went."""
    attacker.socket.settimeout(PATIENCE_S)
    for done in range(count):
        try:
            attacker.socket.sendall(data)
        except OSError:  # it was cut off
            return done
        between()
    return count


def answers(folder: Path, scale: float) -> list[Figure]:
    """ACKs that change nothing, with an answer as long as they are: while the disk is quiet, and while it is not."""
    count = max(200, int(2_000 * scale))
    with Network(folder, "r", keys=DURABLE_KEYS) as net:
        honest, publisher = Consumer(net["r"], "honest"), Stranger(*net["r"].clients, "publisher")
        quiet = sum(honest.is_answered() for _ in range(3))
        before_mib = _resident_mib(net["r"])
        answered, asked, most_mib, ended = 0, 0, 0.0, 0
        for is_busy in (False, True):
            attacker = Consumer(net["r"], f"attacker {is_busy}")
            data = attacker.acknowledge([[2 * n, 2 * n] for n in range(1, RANGES + 1)])

            def between(is_busy: bool = is_busy) -> None:
                if is_busy:  # so that there is something on its way to the disk
                    publisher.publish({"kind": "job"}, b"x" * 1_000, flags=ASKED_STORED)

            began_s = time.monotonic()
            _sent(attacker, data, count, between)
            asked += ASKED
            for _ in range(ASKED):
                if not honest.is_answered():
                    break
                answered += 1
            most_mib = max(most_mib, _resident_mib(net["r"]) - before_mib)
            print(f"busy {is_busy}: {time.monotonic() - began_s:.1f} s")
            with contextlib.suppress(TimeoutError):
                attacker.until_ended()
                ended += 1
            attacker.close()
        tracebacks = net["r"].tracebacks
        for each in (honest, publisher):
            each.close()
    shape = f"{count} ACKs of {RANGES} ranges, whose answers are not read"
    return [
        Figure("an ACK that changes nothing", "of 3 answered", "none at 6374ed70", quiet, 3, is_least=True),
        Figure(shape, "share of an honest consumer's answered", "0 at 6374ed70", answered / asked, 1, is_least=True),
        Figure(shape, "MiB that the router takes more", "not measured", most_mib, 24),
        Figure(shape, "of 2 attackers cut off", "none at 6374ed70", ended, 2, is_least=True),
        Figure(shape, "tracebacks", "0", tracebacks, 0),
    ]
