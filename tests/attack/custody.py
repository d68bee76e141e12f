"""A neighbour that lies in the frames of custody, beside an honest entry and an honest home.

    publisher ─ a ────── c ─ `orders`, wants n          b speaks for itself alone, or (`is_trusted`) for all routers:
      `letters` ┘│       └── publisher                  then it may bring frames of c, and knows both logs
                 b: lies

Law: b lies between any two messages of the pair. What it says as a home or an entry of its own hurts its own messages
alone; what it says as c, and cannot be so, changes nothing. What c might have said (the true logs, and a number that c
was given) is believed of a neighbour that may speak for c: `behind` is what denies it that.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgpack

from tests.attack.durable import DROP_OLDEST, MIB, create_durable, resident_mb
from tests.attack.figure import Figure, Meter, hold
from tests.attack.owners import DURABLE_KEYS, ID, ask
from tests.stranger import frames
from tests.stranger.client import Refused, Stranger
from tests.stranger.frames import Header, body_of, data_frame, extension, packed_steps
from tests.stranger.neighbour import Neighbour
from tests.stranger.predicates import NOTHING, number, packed, predicate_digest
from tests.stranger.routers import Network, until

TOP = 2**64 - 1
FOR_ITSELF, FOR_ALL = "{ends: [a, b], behind: {b: [b]}}", "ab"
TURNS = 30
TAKES_DIRECTED = 2
OWN_LIFE = 5
STATED = 100_000
STORM = 20_000
MEMORY_MB = 24
"""What lies may cost a router, but those that state durable subscriptions."""
STATED_MB = 192
"""What 64 MiB of stated durable subscriptions may cost: as they were stated, in the table, and on their way to the
log."""


class Chain(NamedTuple):
    """The ends of a chain as b names them."""

    entry: int
    entry_log: int
    home: int
    home_log: int


class Liar(Neighbour):
    """Router b, which states a log and durable subscriptions of its own, and then lies."""

    def __init__(self, where: tuple[str, int], is_trusted: bool) -> None:
        now_ms, self.is_trusted = time.time_ns() // 10**6, is_trusted
        super().__init__(where, "b", now_ms, versions=(1, 3), capabilities=["durables-known"])
        self.log = now_ms << 20
        self.counters = itertools.count(1)
        self.said_as_c = 0
        """Frames of custody that c is to have sent."""

    def chain_frame(self, kind: int, sender: int, body: list[object]) -> None:
        """Send a frame of custody of which `sender` is to have been the sender."""
        self.said_as_c += sender == number("c")
        self.say(kind, body)

    def ask_for_durables(self) -> None:
        """Send a request with a digest, and without what is held of durable subscriptions: all of them are sent."""
        self._request(NOTHING, [], [])

    def log_of(self, name: str) -> int:
        """Return the log that a router states, 0 if b has not heard of it."""
        bodies = [body_of(data) for data in self.heard(frames.DURABLES)]
        said = [msgpack.unpackb(each[5]) for each in bodies if each[0] == number(name) and each[4] == 1]
        return max((each[4] for each in said), default=0)

    def want(self, filters: dict[int, list[bytes]], name: str = "b", log: int = 0) -> None:
        """State durable subscriptions, as router `name`."""
        stated = {n: [f"{'x' * 200}{n}", "b", each, TAKES_DIRECTED, 0, 0] for n, each in filters.items()}
        self.state_all({n: msgpack.packb(each) for n, each in stated.items()}, name, log)

    def state_all(self, stated: dict[int, bytes], name: str = "b", log: int = 0) -> None:
        """State these durable subscriptions and no others, as router `name`."""
        self.seq += 1
        said = [number(name), name, self.epoch, self.seq, log or self.log, True, 0, list(stated.items()), []]
        body = [*said, predicate_digest(stated), len(stated), True]
        self.say_in_parts(frames.DURABLES, number(name), self.epoch, self.seq, body)

    def hold(self, issuer: str, holders: list[list[int]]) -> None:
        """Confirm what a router has stated: each statement that came, and one that never did."""
        bodies = [body_of(data) for data in self.heard(frames.DURABLES)]
        versions = [each[1:3] for each in bodies if each[0] == number(issuer)][-1:]
        for version in [*versions, [TOP, TOP]]:
            self.say(frames.DURABLES_HELD, [number(issuer), *version, holders])

    def is_held(self, holder: str) -> bool:
        """Return whether a router has confirmed the last statement of b."""
        bodies = [body_of(data) for data in self.heard(frames.DURABLES_HELD)]
        return any(each[2] == self.seq and number(holder) in [one[0] for one in each[3]] for each in bodies)

    def direct(self, chain: Chain, n: int, previous: int, life: int = OWN_LIFE, before: int = 0) -> None:
        place = struct.pack("<QQQIIQQ", chain.home, chain.home_log, chain.entry_log, life, before, n, previous)
        header = Header(chain.entry, self.epoch, next(self.counters), self.number, n % 2**63, time.time_ns())
        custody = extension(frames.CUSTODY, place)
        self.send(data_frame(header, {"n": -1, "m": -1}, b"", [custody], frames.DIRECTED, hops=255))

    def gap(self, chain: Chain, n: int, previous: int, numbers: list[int], token: int) -> None:
        written = [chain.entry_log, OWN_LIFE, 0]
        ends = chain.home, chain.home_log
        body = [chain.entry, written, *ends, n, previous, packed_steps(numbers), 255, token]
        self.chain_frame(frames.GAP, chain.entry, body)


Lie = Callable[[Liar, int], object]


def _chains(liar: Liar, *, of: str) -> Iterator[Chain]:
    """Yield the chain from a to b or to c (`of` "entry"), or that from b or c to a ("home"), each with the logs that
    are stated, and with others."""
    a, other = (number("a"), liar.log_of("a")), secrets.randbits(64)
    for name, log in (("b", liar.log), ("c", liar.log_of("c"))):
        for a_log, its_log in ((a[1], log), (a[1], other), (other, log), (a[1], TOP), (0, log)):
            far = number(name), its_log
            yield Chain(a[0], a_log, *far) if of == "entry" else Chain(*far, a[0], a_log)


def _is_likely(liar: Liar, chain: Chain) -> bool:
    """Return whether c might have said so."""
    c, log = number("c"), liar.log_of("c")
    ends = (
        (chain.home, chain.home_log, chain.entry_log)
        if chain.home == c
        else (chain.entry, chain.entry_log, chain.home_log)
    )
    return ends == (c, log, liar.log_of("a"))


def lie_in_acks(liar: Liar, turn: int) -> None:
    for chain in _chains(liar, of="entry"):
        for have in (0, TOP - 1, TOP) if _is_likely(liar, chain) else (0, 1, OWN_LIFE << 40, TOP - 1, TOP):
            window = (0, 1, TOP)[turn % 3]
            liar.chain_frame(frames.CUSTODY_ACK, chain.home, [*_home_first(chain), have, window, 255])


def storm_of_asks(liar: Liar, _turn: int, count: int = STORM // TURNS) -> None:
    chains = [each for each in _chains(liar, of="entry") if each.home_log and each.entry_log]
    for chain, at in zip(itertools.cycle(chains), range(count), strict=False):
        liar.chain_frame(
            frames.CUSTODY_ASK, chain.home, [*_home_first(chain), (0, TOP)[at % 7 == 0], 255, secrets.randbits(64)]
        )


def chains_of_unknown_logs(liar: Liar, turn: int) -> None:
    for chain in _chains(liar, of="home"):
        if liar.is_trusted and _is_likely(liar, chain):
            continue
        for n, previous in ((turn + 1, 0), (TOP, 0), (TOP, TOP - 1), (2, 1), (OWN_LIFE + 1 << 40, 0)):
            liar.direct(chain, n, previous, life=OWN_LIFE + turn % 3, before=turn % 2 * OWN_LIFE)
    stranger = Chain(secrets.randbits(64), liar.log, number("a"), liar.log_of("a"))
    liar.direct(stranger, 1, 0)


def gaps_of_what_was_never_there(liar: Liar, turn: int) -> None:
    asked = [body_of(data)[6] for data in liar.heard(frames.CUSTODY_ASK)]
    for chain in _chains(liar, of="home"):
        for token in (0, TOP, *asked[-1:]):
            first = (turn + 1) << 20
            liar.gap(chain, first + 255, first, [first + at for at in range(1, 256)], token)
            liar.gap(chain, TOP, 0, [], token)


def held_for_others(liar: Liar, turn: int) -> None:
    others = [[secrets.randbits(64) or 1, secrets.randbits(64), 1, 0] for _ in range(1_000)]
    for issuer in ("a", "c"):
        liar.hold(issuer, [[number("b"), liar.log, OWN_LIFE + turn, 0], *others])
        liar.hold(issuer, [[number("c"), TOP - turn, 1, 0], [number("a"), TOP, 1, 0]])


def _home_first(chain: Chain) -> tuple[int, int, int, int]:
    return chain.home, chain.home_log, chain.entry, chain.entry_log


LIES: dict[str, Lie] = {
    "CUSTODY_ACK": lie_in_acks,
    "CUSTODY_ASK": storm_of_asks,
    "DIRECTED": chains_of_unknown_logs,
    "GAP": gaps_of_what_was_never_there,
    "DURABLES_HELD": held_for_others,
}


class Pair:
    """An entry and a home, which are each the other's. `forged`: messages that neither publisher has published."""

    def __init__(self, net: Network) -> None:
        self.count = self.forged = 0
        self.ends = {
            "n": (Stranger(*net["a"].clients, "a's"), Stranger(*net["c"].clients, "of orders", patience_s=4)),
            "m": (Stranger(*net["c"].clients, "c's"), Stranger(*net["a"].clients, "of letters", patience_s=4)),
        }
        for name, (_, consumer) in self.ends.items():
            create_durable(consumer, name, [packed([[name, frames.GE, 0]])], 8 * MIB, DROP_OLDEST)
            assert ask(consumer, frames.CONSUME, ID, name, 10_000) == (0, "")

    def exchange(self) -> int:
        """Publish a message as stored; return 1 if it is confirmed, and comes."""
        self.count += 1
        name, n = ("n", "m")[self.count % 2], self.count
        publisher, consumer = self.ends[name]
        try:
            publisher.confirmation(publisher.publish({name: n}, flags=frames.CONFIRM | frames.DURABLE))
            while (message := consumer.message()).attributes != {name: n}:
                self.forged += message.attributes[name] not in range(n)
        except (TimeoutError, Refused) as error:
            print(f"message {n}: {error!r}")
            return 0
        (position,) = struct.unpack("<Q", message.extensions[frames.LOG_POSITION])
        consumer.send(frames.frame(frames.ACK, [frames.DELIVERED, 0, [[position, position]], [], 0, ID, 0, ""]))
        return 1

    def close(self) -> None:
        for each in itertools.chain(*self.ends.values()):
            each.close()


@contextlib.contextmanager
def _beside_a_liar(folder: Path, link: str) -> Iterator[tuple[Network, Pair, Liar]]:
    folder.mkdir()
    with Network(folder, "ac", ["ac", link], elsewhere="b", keys=DURABLE_KEYS) as net:
        net.until_linked("ac")
        net.until_ready("ac")
        pair = Pair(net)
        liar = Liar(net["a"].neighbours, link == FOR_ALL).join()
        liar.ask_for_durables()
        until(lambda: liar.log_of("a") and liar.log_of("c"))
        liar.want({1: [packed([])]})
        liar.hold("a", [[liar.number, liar.log, OWN_LIFE, 0]])
        try:
            yield net, pair, liar
        finally:
            liar.close()
            pair.close()


def lies(folder: Path, scale: float) -> list[Figure]:
    """Lies in each frame of custody, by a neighbour that may speak for itself alone, and by one that may for all."""
    figures: list[Figure] = []
    for word, link in (("for itself alone", FOR_ITSELF), ("for all routers", FOR_ALL)):
        with _beside_a_liar(folder / word[4:7], link) as (net, pair, liar):
            router = net["a"]
            before_mb = resident_mb(router)
            works, holds = {}, {}
            for kind, lie in LIES.items():
                with Meter(router) as meter:
                    works[kind] = _pair_beside(pair, lie, liar, max(3, round(TURNS * scale)))
                holds[kind] = meter.hold_ms
            grown_mb = resident_mb(router) - before_mb
            [to_b] = [each for each in router.page("/status")["network"]["links"] if each["neighbour"] == "b"]
            figures += _figures(f"a neighbour that speaks {word}, and lies", works, holds, scale)
            if link == FOR_ITSELF:
                said = f"of {liar.said_as_c:,} frames in the name of c refused"
                figures.append(Figure(figures[-1].shape, said, "-", to_b["statements_refused"], liar.said_as_c, True))
            figures.append(Figure(figures[-1].shape, "messages that nobody published", "-", pair.forged, 0))
            figures.append(Figure(figures[-1].shape, "MB of memory more", "-", grown_mb, MEMORY_MB))
            figures.append(Figure(figures[-1].shape, "tracebacks", "-", _tracebacks(net), 0))
    return figures


def _pair_beside(pair: Pair, lie: Lie, liar: Liar, turns: int) -> int:
    works = 0
    for turn in range(turns):
        lie(liar, turn)
        works += pair.exchange()
    assert liar.ended is None, liar.ended
    return works


def _figures(shape: str, works: dict[str, int], holds: dict[str, float], scale: float) -> list[Figure]:
    turns = max(3, round(TURNS * scale))
    return [
        *(
            Figure(shape, f"in {kind}: of {turns} stored messages of a pair, that come", "-", count, turns, True)
            for kind, count in works.items()
        ),
        *(hold(shape, f"in {kind}: longest hold, ms", "-", each) for kind, each in holds.items()),
    ]


def stated(folder: Path, scale: float) -> list[Figure]:
    """A neighbour states 100,000 durable subscriptions, ten times what a router has by default."""
    count = max(10_000, int(STATED * scale))
    with _beside_a_liar(folder / "stated", FOR_ITSELF) as (net, pair, liar):
        router, works = net["a"], 0
        before_mb = resident_mb(router)
        with Meter(router) as meter:
            liar.want({n: [packed([["n", frames.EQ, n]])] for n in range(1, count + 1)})
            for _ in range(TURNS):
                works += pair.exchange()
            until(lambda: liar.is_held("a"), 60)
        grown_mb = resident_mb(router) - before_mb
        tracebacks = _tracebacks(net)
    shape = f"{count:,} durable subscriptions that a neighbour states"
    return [
        Figure(shape, f"of {TURNS} stored messages of a pair meanwhile, that come", "-", works, TURNS, is_least=True),
        hold(shape, "longest hold, ms", "-", meter.hold_ms),
        Figure(shape, "MB of memory more", "-", grown_mb, STATED_MB),
        Figure(shape, "tracebacks", "-", tracebacks, 0),
    ]


def _tracebacks(net: Network) -> int:
    return sum(net[name].tracebacks for name in "ac")
