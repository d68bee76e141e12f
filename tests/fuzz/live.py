"""Mutated frames against a live router built with sanitizers: python -m tests.fuzz.live --frames N [--seed S]

Law: nothing that a peer sends may make the router read or write out of bounds, raise, or lose another pair's message.
An honest pair publishes and receives all the while; in the end reports of the sanitizers, tracebacks and misses are 0,
and a new durable subscription stores and delivers.
The same seed draws the same frames, but for clocks.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.live_durable import Given, kept_seeds
from tests.fuzz.live_frames import client_seeds, link_seeds, mutated
from tests.stranger import frames
from tests.stranger.chance import Chance
from tests.stranger.client import Ended, Stranger
from tests.stranger.frames import frame
from tests.stranger.neighbour import Neighbour
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router, until
from tests.trees import sanitized

BATCH = 24
"""Frames sent in one go; the router ends the session at the first that is fatal."""
SHARES = {"client": 0.4, "kept": 0.25, "link": 0.2, "before": 0.11, "before, link": 0.04}
MUTATED = 0.35
MUTATED_BEGIN = 0.02
"""Shares of mutated frames, and of those at the beginning of a session about durable subscriptions."""
DURABLE_KEYS = {"bytes": 1 << 28, "segment_bytes": 1 << 20, "memory_bytes": 1 << 20}
"""A log of small segments, so that they are sealed, copied forward and dropped all the while."""
HONEST_S = 0.02
STORED_AFTER = "stored after"
"""The attribute of the message that is stored after the attack."""
KEPT_S = 2
"""Seconds that a session about durable subscriptions waits for an answer: a frame with a wrong length has none."""
IN_A_ROW = 20
"""Sessions about durable subscriptions in a row: what they publish waits once until the link to a neighbour that came
and went before them is given up."""
DURABLE_FIGURES = (
    "subscriptions",
    "stored",
    "confirmed",
    "delivered",
    "redelivered",
    "acked",
    "dropped",
    "expired",
    "dead",
)
REPORT = ("ERROR: AddressSanitizer", "runtime error:", "UndefinedBehaviorSanitizer")


@dataclass
class Counts:
    frames: int = 0
    bytes: int = 0
    sessions: int = 0
    honest_sent: int = 0
    honest_heard: int = 0
    by_way: Counter[str] = field(default_factory=Counter)


# --- sessions ---------------------------------------------------------------------------------------------------------


class Hostile:
    """Sessions of one way in, until the frames are used up."""

    def __init__(self, router: Router, seed: int, counts: Counts) -> None:
        self.router, self.counts = router, counts
        self.chance = Chance(f"live/{seed}")
        self.others = [frame(frames.PING, [1])]

    def session(self, way: str) -> None:
        with contextlib.suppress(Ended, OSError, TimeoutError):
            {
                "client": self._client,
                "kept": self._stored,
                "link": self._link,
                "before": lambda: self._before(self.router.clients, frames.CLIENT),
                "before, link": lambda: self._before(self.router.neighbours, frames.ROUTER),
            }[way]()
        self.counts.sessions += 1

    def _client(self) -> None:
        with Stranger(*self.router.clients, f"hostile-{self.chance.randrange(40)}", patience_s=5) as client:
            self._send("client", client_seeds(self.chance, client.number), client.send)
            client.send(frame(frames.PING, [2]))
            client.expect(frames.PONG)

    def _stored(self) -> None:
        """Create durable subscriptions, read deliveries, and answer them."""
        with Stranger(*self.router.clients, f"hostile-{self.chance.randrange(40)}", patience_s=KEPT_S) as client:
            given: list[Given] = []
            seeds = kept_seeds(self.chance, client.number, given)
            self._send("kept", seeds, client.send, MUTATED_BEGIN)
            client.send(frame(frames.PING, [2]))
            client.expect(frames.PONG)
            for message in (
                frames.message_of(each) for each in client.waiting if frames.kind_of(each) == frames.DELIVER
            ):
                position = int.from_bytes(message.extensions.get(frames.LOG_POSITION, b""), "little")
                given += [(id_, position) for id_ in message.satisfied]
            self._send("kept", seeds, client.send)
            client.send(frame(frames.PING, [2]))
            client.expect(frames.PONG)

    def _link(self) -> None:
        peer = Neighbour(self.router.neighbours, "b", time.time_ns() // 10**6, is_reading=False)
        try:
            peer.send(frame(frames.LSA, ["b", peer.epoch, 1, [[peer.peer, 1, 1]]]))
            self._send("link", link_seeds(self.chance, peer.number), peer.send)
            peer.send(frame(frames.PING, [2]))
            peer.socket.settimeout(2)
            while frames.kind_of(peer.read_frame()) != frames.PONG:
                pass
        finally:
            peer.close()

    def _before(self, where: tuple[str, int], role: int) -> None:
        """HELLO and AUTH themselves, and whatever else comes before them."""
        chance, way = self.chance, "before" if role == frames.CLIENT else "before, link"
        name = "b" if role == frames.ROUTER else "early"
        hello = [role, name, 5, chance.randbytes(16), 1, chance.randrange(1, 4), ["trace"], 1 << 20, 30_000, 1]
        first = frame(frames.HELLO, hello)
        auth = frame(frames.AUTH, [chance.randrange(3), chance.randbytes(chance.randrange(9))])
        with Stranger(*where, name, greet=False, patience_s=2) as client:
            seeds = chance.choice(((first,), (auth,), (first, auth), (auth, first)))
            for data in seeds:
                sent = mutated(chance, data, [first, auth]) if chance.random() < 0.8 else data
                self._count(way, sent)
                client.send(sent)
            client.socket.settimeout(0.003)
            with contextlib.suppress(TimeoutError):
                client.read_frame()

    def _send(
        self, way: str, seeds: Iterator[bytes], send: Callable[[bytes], None], mutated_share: float = MUTATED
    ) -> None:
        batch = []
        for _ in range(BATCH):
            data = next(seeds)
            self.others = [*self.others[-30:], data]
            batch.append(mutated(self.chance, data, self.others) if self.chance.random() < mutated_share else data)
            self._count(way, batch[-1])
        send(b"".join(batch))

    def _count(self, way: str, data: bytes) -> None:
        self.counts.frames += 1
        self.counts.by_way[way] += 1
        self.counts.bytes += len(data)


class Pair:
    """Honest clients at two routers: what one publishes the other gets, all of it."""

    def __init__(self, net: Network, counts: Counts) -> None:
        self.counts, self._is_on = counts, True
        self.reader = Stranger(*net["c"].clients, "honest reader", patience_s=30)
        self.writer = Stranger(*net["a"].clients, "honest writer", patience_s=30)
        assert not self.reader.subscribe({1: [[["honest", frames.GE, 0]]]}, wait=frames.NETWORK)
        self.missing: list[str] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while self._is_on:
                self.counts.honest_sent += 1
                self.writer.confirmed({"honest": self.counts.honest_sent})
                while (found := self.reader.message()).header.origin != self.writer.number:
                    pass  # a mutated message happened to be asked for
                assert found.attributes == {"honest": self.counts.honest_sent}, found.attributes
                self.counts.honest_heard += 1
                time.sleep(HONEST_S)
        except Exception as error:
            self.missing.append(repr(error))

    def close(self) -> None:
        self._is_on = False
        self._thread.join()
        self.reader.close()
        self.writer.close()


def stores(router: Router) -> bool:
    """Return whether a message that is published now is stored by a new durable subscription, and delivered from it."""
    filters = [packed([[STORED_AFTER, frames.EXISTS]])]
    with Stranger(*router.clients, "honest consumer", patience_s=30) as client:
        for of, kind, body in (
            (5, frames.CREATE_DURABLE, ["honest", [filters, 0, 1 << 20, 0]]),
            (6, frames.CONSUME, [1, "honest", 10]),
        ):
            request = client.request()
            client.send(frame(kind, [request, *body]))
            while client.expect(frames.ACK)[:2] != [of, request]:
                pass
        client.confirmation(client.publish({STORED_AFTER: 1}, flags=frames.CONFIRM | frames.DURABLE))
        return client.message().attributes == {STORED_AFTER: 1}


def run(count: int, seed: int, folder: Path, build: Path | None, progress: Callable[[str], None]) -> dict[str, object]:
    """`build`: the tree with the sanitized extension; None: the one that is installed."""
    counts, began_s, told_s = Counts(), time.monotonic(), time.monotonic()
    net = Network(
        folder, "ac", ["ac", "ab"], elsewhere="b", of={"a": {"limits": {"greeting_ms": 5_000}, "durable": DURABLE_KEYS}}
    )
    if build is not None:
        net["a"].environment = environment(build)
    with net:
        until(lambda: net["a"].links_up == {"c"}, 60)
        pair, hostile, random = Pair(net, counts), Hostile(net["a"], seed, counts), Random(seed)
        ways = list(SHARES)
        in_a_row = dict.fromkeys(ways, 1) | {"kept": max(1, min(IN_A_ROW, count // 5_000))}
        weights = [SHARES[way] / in_a_row[way] / (1.5 if way.startswith("before") else BATCH) for way in ways]
        while counts.frames < count and net["a"].is_alive and not pair.missing:
            [way] = random.choices(ways, weights)
            for _ in range(in_a_row[way]):
                hostile.session(way)
            if time.monotonic() > told_s + 20:
                told_s = time.monotonic()
                progress(f"{counts.frames} of {count} frames, {counts.sessions} sessions, {told_s - began_s:.0f} s")
        pair.close()
        is_alive, is_ready = net["a"].is_alive, net["a"].is_alive and net["a"].is_ready
        kept = net["a"].page("/status")["durable"] if is_alive else {}
        is_storing = is_alive and stores(net["a"])
        rss = net["a"].metric("process_resident_memory_bytes") if is_alive else 0
        loaded = Path(f"/proc/{net['a'].process.pid}/maps").read_text() if is_alive else ""
        log = net["a"].log
        tracebacks = net["a"].tracebacks + net["c"].tracebacks
        first_traceback = net["a"].first_traceback or net["c"].first_traceback
    return {
        "frames": counts.frames,
        "ways": dict(counts.by_way),
        "sessions": counts.sessions,
        "megabytes": round(counts.bytes / 1e6, 1),
        "seed": seed,
        "sanitized": f"{build}/" in loaded and "libasan" in loaded,
        "seconds": round(time.monotonic() - began_s, 1),
        "reports": sum(log.count(word) for word in REPORT),
        "tracebacks": tracebacks,
        "honest": [counts.honest_heard, counts.honest_sent],
        "missing": pair.missing,
        "durable": {key: kept.get(key, 0) for key in DURABLE_FIGURES},
        "storing": is_storing,
        "alive": is_alive,
        "ready": is_ready,
        "resident_mb": round(rss / 1e6),
        "first_traceback": first_traceback,
        "last_words": "" if is_alive else log[-4_000:],
    }


def environment(build: Path) -> dict[str, str]:
    """What a process needs to load an extension with sanitizers."""
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603, S607
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(build),
    }


def is_clean(found: dict[str, object]) -> bool:
    heard, sent = found["honest"]  # type: ignore[misc]
    return bool(found["alive"] and found["ready"] and found["storing"] and heard == sent > 0) and not (
        found["reports"] or found["tracebacks"] or found["missing"]
    )


def reaches_durables(found: dict[str, Any]) -> bool:
    """Return whether mutated frames stored messages and consumed them. A few thousand frames may do neither."""
    return min(found["durable"][each] for each in ("subscriptions", "stored", "delivered")) > 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.live", description="Mutated frames, a live router.")
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="the router as it is installed, without sanitizers")
    options = parser.parse_args()
    build = None if options.plain else sanitized()
    with tempfile.TemporaryDirectory(prefix="fuzz-live-") as folder:
        found = run(options.frames, options.seed, Path(folder), build, lambda words: print(words, file=sys.stderr))
    print(json.dumps(found))
    return 0 if is_clean(found) and reaches_durables(found) else 1


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main())
