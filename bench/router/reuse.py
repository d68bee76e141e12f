"""What a message costs the routers of a tree that reuse what the first matched: `python -m tamis.bench.router.reuse`.

    entry 1 -- transit 2 -- last 4        routers 1 to `--routers` are a heap: 2 and 3 are children of 1, 4 and 5 of 2

Law: each router is the switch as it stands, with the filters that it would have there: those of all others, and of its
own clients. One router's frames are fed to the next. Instructions inside the switch are counted by callgrind over one
router at a time, whose frames were made beforehand; the rows of one size differ in the forwarding policy alone.
`tree`: the sum over the tree, if each message goes to all of it.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tamis.bench import callgrind
from tamis.bench.matching.workloads import NAMES, WORKLOADS, deal, make
from tamis.bench.router.switches import admit, subscribe
from tamis.bench.tables import tell
from tamis.native import DEFAULT_ENGINE, ENGINES, Switch, SwitchOptions, Table
from tamis.protocol.wire.header import HEADER_BYTES, ID_OFFSET
from tamis.protocol.wire.numbers import filter_digest

PROGRAM: Final = "tamis.bench.router.reuse"
SEED: Final = 2026
ROUNDS: Final = 5
HOPS: Final = 30
CLIENT: Final = 1 << 40
ROLES: Final = {"entry": 1, "transit": 2, "last": 4}
POLICIES: Final = ("wanted", "destinations", "weighed")
"""`weighed` is `destinations` where the first router knows the tree, as in a network: it writes a set where that
pays."""
KEYS: Final = "keys"
"""The policy of copies that carry keys of matching filters, for engines whose matches can stop after some filters."""


@dataclass(frozen=True)
class Load:
    """The filters of each router, and messages."""

    filters: dict[int, list[bytes]]
    messages: list[bytes]
    """Packed attributes."""

    @classmethod
    def drawn(cls, workload: str, filters: int, routers: int, messages: int) -> Load:
        drawn = make(workload, filters, messages, NAMES, SEED)
        of: dict[int, list[bytes]] = {router: [] for router in range(1, routers + 1)}
        for place, router in enumerate(deal(workload, filters, routers, SEED)):
            of[router + 1].append(drawn.filters[place])
        return cls(of, [drawn.messages[place] for place in range(len(drawn.messages))])


def _way(me: int, other: int) -> int:
    """The neighbour of `me` in the heap towards `other`."""
    before = other
    while other > me:
        before, other = other, other // 2
    return before if other == me else me // 2


class Router:
    """One router of the tree, and its client."""

    def __init__(self, number: int, load: Load, policy: str, engine: str = DEFAULT_ENGINE) -> None:
        self.number = number
        self.switch = Switch(Table(), SwitchOptions(number, 1, connections_max=8, publishers_max=8, hop_limit=HOPS))
        self.switch.join(Table(engine), 8, "destinations" if policy == "weighed" else policy)
        self.links = {
            other: admit(self.switch, other, is_link=True, takes_sets=True)
            for other in (number // 2, 2 * number, 2 * number + 1)
            if other in load.filters
        }
        self.client = admit(self.switch, CLIENT, takes_sets=True)
        subscribe(self.switch, self.client, load.filters[number])
        for other, filters in load.filters.items():
            if other != number:
                self.switch.install(other, dict(enumerate(filters)))
        generation = self.switch.begin_routes(HOPS)
        source = ROLES["entry"]
        parent = None if number == source else number // 2
        ways = {other: _way(number, other) for other in load.filters if other != number}
        self.switch.route(generation, source, parent, {to: way for to, way in ways.items() if way != parent})
        self.switch.commit(0)
        self.switch.hold(filter_digest(1, b"all"), sorted(load.filters))
        if policy == "weighed":
            self.switch.tell_tree({other: _way(other, number) for other in load.filters if other != number})

    def feed(self, connection: int, frames: Sequence[bytes]) -> dict[int, list[bytes]]:
        """Feed frames, one by one; return those that left by each link."""
        for frame in frames:
            self.switch.feed(connection, frame)
        while self.switch.output(self.client, 1 << 26):
            pass
        return {other: _cut(self.switch, link) for other, link in self.links.items()}


def _cut(switch: Switch, link: int) -> list[bytes]:
    data = bytearray()
    while some := switch.output(link, 1 << 26):
        data += some
    frames = []
    while data:
        size = int.from_bytes(data[:4], "little")
        frames.append(bytes(data[:size]))
        del data[:size]
    return frames


def _published(attributes: bytes, counter: int) -> bytes:
    head = bytearray(HEADER_BYTES)
    head[:5] = (HEADER_BYTES + len(attributes)).to_bytes(4, "little") + b"\x01"
    head[ID_OFFSET : ID_OFFSET + 16] = CLIENT.to_bytes(8, "little") + counter.to_bytes(8, "little")
    head[60:64] = len(attributes).to_bytes(4, "little")
    return bytes(head) + attributes


def frames_of(load: Load, policy: str, engine: str = DEFAULT_ENGINE) -> dict[str, list[bytes]]:
    """What is fed to each role: what the one before it sent there."""
    found = {"entry": [_published(attributes, counter) for counter, attributes in enumerate(load.messages, 1)]}
    for role, (following, number) in zip(ROLES, list(ROLES.items())[1:], strict=False):
        router = Router(ROLES[role], load, policy, engine)
        source = router.client if role == "entry" else router.links[ROLES[role] // 2]
        found[following] = router.feed(source, found[role])[number]
    return found


def _fed(path: Path) -> float:
    """Feed one router what a file says; microseconds of CPU a message."""
    role, policy, load, frames, engine = pickle.loads(path.read_bytes())  # noqa: S301 - our own file
    router = Router(ROLES[role], load, policy, engine)
    source = router.client if role == "entry" else router.links[ROLES[role] // 2]
    block = b"".join(frames)
    began = time.thread_time()
    router.switch.feed(source, block)
    return (time.thread_time() - began) * 1e6 / len(frames)


def _counted(path: Path) -> int:
    return callgrind.counted("tm_switch_feed", PROGRAM, "--feed", str(path))


def measured(load: Load, counted: bool, engine: str = DEFAULT_ENGINE) -> list[dict[str, float | str]]:
    """A row for each policy: instructions (`counted`) or microseconds a message, of each role and of the tree. Times
    are the least of ROUNDS, in which the policies take turns."""
    routers = len(load.filters)
    policies = (*POLICIES, KEYS) if ENGINES[engine].limits else POLICIES
    frames = {policy: frames_of(load, policy, engine) for policy in policies}
    rows: dict[str, dict[str, float | str]] = {each: {"policy": each, "routers": str(routers)} for each in policies}
    with tempfile.TemporaryDirectory() as folder:
        for role in ROLES:
            paths = {policy: Path(folder) / policy for policy in policies}
            for policy, path in paths.items():
                path.write_bytes(pickle.dumps((role, policy, load, frames[policy][role], engine)))
            rounds = [
                {policy: _counted(path) / len(frames[policy][role]) if counted else _fed(path) for policy, path in turn}
                for turn in [list(paths.items())] * (1 if counted else ROUNDS)
            ]
            for policy, row in rows.items():
                row[role] = min(each[policy] for each in rounds)
    inner = sum(2 * router <= routers for router in range(2, routers + 1))
    for policy, row in rows.items():
        cost = {role: float(row[role]) for role in ROLES}
        row["tree"] = cost["entry"] + inner * cost["transit"] + (routers - 1 - inner) * cost["last"]
        row["bytes"] = sum(map(len, frames[policy]["transit"])) / len(frames[policy]["transit"])
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--filters", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--workload", choices=tuple(WORKLOADS), default="market")
    parser.add_argument("--engine", choices=tuple(ENGINES), default=DEFAULT_ENGINE, help="of the network table")
    parser.add_argument("--routers", type=int, default=100)
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--callgrind", action="store_true", help="count instructions")
    parser.add_argument("--feed", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    arguments = parser.parse_args()
    if arguments.feed:
        _fed(arguments.feed)
        return
    if arguments.callgrind and not callgrind.is_installed():
        parser.error("valgrind is not installed")
    for filters in arguments.filters:
        load = Load.drawn(arguments.workload, filters, arguments.routers, arguments.messages)
        for row in measured(load, arguments.callgrind, arguments.engine):
            about = {"workload": arguments.workload, "filters": str(filters), "engine": arguments.engine}
            tell(about | row, arguments.json)


if __name__ == "__main__":
    main()
