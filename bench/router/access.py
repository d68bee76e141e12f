"""What rules of access cost a router: `python -m tamis.bench.router.access`.

    door       a publisher without rules, and one whose rule has four constraints: instructions a message
    hand       one message for RECEIVERS receivers of one class: instructions without rules and with them, and how often
               the guard is asked
    durable    a message that one durable subscription stores: instructions without rules, and with rules that guard its
               publisher and its owner
    subscribe  a SUBSCRIBE of one filter without rules, with a rule that leaves it whole, and with one that narrows it,
               of the first client of its class and of another one
    start      a file with PRINCIPALS principals in 64 classes: seconds to read it, and bytes in memory for each

Law: instructions are those inside tm_switch_feed, counted by callgrind, which a busy machine cannot move; what the
first messages cost more is included. Times are CPU of one thread, in rounds in which the cases take turns; the median
of the rounds is told, with the least and the most.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from tamis.bench import callgrind
from tamis.bench.router.switches import ATTRIBUTES, PUBLISHER, SUBSCRIBER, WANTED, admit, packed, subscribe
from tamis.bench.router.transit import PAYLOAD, Router, fed
from tamis.bench.tables import tell
from tamis.configs import parse_topology
from tamis.configs.access.load import load_access, parse_access
from tamis.native import Switch, SwitchOptions, Table
from tamis.native.durables import SwitchDurables
from tamis.native.guards import Guarding, GuardRules
from tamis.native.log import Log
from tamis.protocol.language import parse
from tamis.protocol.wire.client_bodies import Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.session_bodies import Auth, AuthMethod, Hello, Role
from tamis.router.access.in_force import AccessInForce
from tamis.router.clients.clients import Clients
from tamis.router.connections.connections import Connections

PROGRAM: Final = "tamis.bench.router.access"
RULE: Final = 'side = "buy" and venue = "X" and qty < 500 and region in {"eu", "us"}'
CASES: Final = ("door", "door with rules", "hand", "hand with rules", "durable", "durable with rules")
FILTERS: Final = 20
RECEIVERS: Final = 1_000
MESSAGES: Final = {"door": 4_000, "hand": 40, "durable": 4_000}
RING_BYTES: Final = 4 << 20
FRAMES: Final = 1_000
ASKED: Final = 'symbol = "S{}" and side = "buy" and price < {}'
RULES: Final = {
    "without rules": "",
    "rules, whole": 'side = "buy"',
    "rules, narrowed": 'region = "eu" and venue != "Y"',
}
PRINCIPALS: Final = 100_000
ROLES: Final = 6
TOKEN: Final = b"a token for this bench"


def _guarded(switch: Switch, connections: list[int], guarding: Guarding) -> None:
    for connection in connections:
        switch.guard(switch.subscriber_of(connection), guarding)


class AtTheDoor(Router):
    """A router that stands alone, whose publisher has a rule."""

    def __init__(self, has_rules: bool) -> None:
        super().__init__("alone", FILTERS)
        self._has_rules = has_rules

    def ends(self, came_from: int, goes_to: int) -> tuple[int, int]:
        source, sink = super().ends(came_from, goes_to)
        if self._has_rules:
            _guarded(self.switch, [source], Guarding("bench", door=self.switch.new_guard(_rules())))
        return source, sink


def _rules() -> GuardRules:
    return GuardRules(allowed=parse(RULE).filters)


def _handed(has_rules: bool) -> float:
    """Feed messages for RECEIVERS receivers; return how often the guard was asked for one."""
    options = SwitchOptions(1, 1, RECEIVERS + 1, publishers_max=4, hop_limit=1)
    with closing(Table()) as table, closing(Switch(table, options)) as switch:
        source = admit(switch, PUBLISHER)
        receivers = [admit(switch, SUBSCRIBER + number) for number in range(RECEIVERS)]
        for each in receivers:
            subscribe(switch, each, [packed(WANTED)])
        guard = switch.new_guard(_rules())
        if has_rules:
            _guarded(switch, receivers, Guarding("bench", hand=guard))
        for counter in range(1, MESSAGES["hand"] + 1):
            switch.feed(source, encode_publish(PUBLISHER, counter, 0, ATTRIBUTES, PAYLOAD))
        if switch.figures().deliveries != RECEIVERS * MESSAGES["hand"]:
            raise RuntimeError("not every receiver got every message")
        return switch.guard_figures(guard).judged / MESSAGES["hand"]


def _stored(has_rules: bool) -> None:
    """Feed messages that a durable subscription stores."""
    router = AtTheDoor(has_rules)
    with tempfile.TemporaryDirectory(prefix="tamis-access-") as folder:
        log = Log(Path(folder), bytes_max=1 << 26, segment_bytes=1 << 22, ring_bytes=RING_BYTES)
        with SwitchDurables(router.switch, log, ring_bytes=RING_BYTES) as durables:
            durables.open(1, DurablePolicy((packed(WANTED),)))
            owner = next(each for each in range(RECEIVERS) if router.switch.durable_of(each) == 1)
            if has_rules:
                router.switch.guard(owner, Guarding("bench", hand=router.switch.new_guard(_rules())))
            fed(router, MESSAGES["durable"])
            if durables.figures(1).open != MESSAGES["durable"]:
                raise RuntimeError("not every message is stored")
        log.close()


def _feed(case: str) -> None:
    what, _, rules = case.partition(" ")
    if what == "door":
        fed(AtTheDoor(bool(rules)), MESSAGES[what])
    elif what == "durable":
        _stored(bool(rules))
    else:
        _handed(bool(rules))


def counted(what: str) -> dict[str, float]:
    """Return the instructions of a message without rules and with them."""
    without, ruled = (
        callgrind.counted("tm_switch_feed", PROGRAM, "--feed", case) / MESSAGES[what]
        for case in (what, f"{what} with rules")
    )
    return {"without": without, "with_rules": ruled, "more": ruled - without}


# --- SUBSCRIBE -------------------------------------------------------------------------------------------------------


@contextmanager
def _router(rule: str) -> Iterator[Clients]:
    """The clients of a router without sockets."""
    connections = Connections(parse_topology("routers: {a: {}}").router("a"), 1, asyncio.get_running_loop())
    access = None
    if rule:
        role, digest = f"{{subscribe: '{rule}'}}", hashlib.sha256(TOKEN).hexdigest()
        text = f"roles: {{all: {role}}}\nprincipals: {{bench: {{roles: all, token: 'sha256:{digest}'}}}}"
        access = AccessInForce(connections.switch, parse_access(text).rules)
    with closing(connections):
        yield Clients(connections, None, access)


async def subscribed_us(rule: str) -> tuple[float, float]:
    """Return the microseconds of CPU of a SUBSCRIBE, and of one that another client of the class has sent before."""
    with _router(rule) as clients:
        frames = [_subscribe(number) for number in range(1, FRAMES + 1)]
        first, again = [await _sent_us(clients, f"bench/{number}", bool(rule), frames) for number in range(2)]
        return first, again


async def _sent_us(clients: Clients, name: str, has_rules: bool, frames: list[bytes]) -> float:
    client = clients.open(-1, "unix")
    if client is None:
        raise RuntimeError("no room for a client")
    feed, number = clients.connections.feed, client.connection
    feed(number, encode(Hello(Role.CLIENT, name, 0, os.urandom(16), 1, 3, (), 1 << 20, 30_000, 0)))
    feed(number, encode(Auth(AuthMethod.TOKEN, TOKEN) if has_rules else Auth(AuthMethod.NONE, b"")))
    before_s = time.thread_time()
    for frame in frames:
        feed(number, frame)
        while client.requests or not clients.connections.work.is_idle:
            await asyncio.sleep(0)
    taken_s = time.thread_time() - before_s
    if client.subscriber is None or client.subscriber.filters != len(frames):
        raise RuntimeError("a subscription was refused")
    return taken_s * 1e6 / len(frames)


def _subscribe(number: int) -> bytes:
    item = SubscriptionItem(number, (packed(ASKED.format(number, number)),))
    return encode(Subscribe(number, (item,), False, Reach.HOME, False))


# --- the start -------------------------------------------------------------------------------------------------------


def _written(folder: Path) -> Path:
    """Write rules with PRINCIPALS principals, in a class for each set of roles."""
    roles = [f"r{at}" for at in range(ROLES)]
    sets = [",".join(role for bit, role in enumerate(roles) if at >> bit & 1) or "-" for at in range(1 << ROLES)]
    lines = (
        f"device-{at:06} {sets[at % len(sets)]} sha256:{hashlib.sha256(b'%d' % at).hexdigest()}\n"
        for at in range(PRINCIPALS)
    )
    of_roles = "".join(f"  {role}: {{publish: 'kind = \"{role}\"'}}\n" for role in roles)
    for name, text in (
        ("principals.txt", "".join(lines)),
        ("rules.yaml", f"roles:\n{of_roles}principals_file: principals.txt\n"),
    ):
        (folder / name).touch(0o600)
        (folder / name).write_text(text)
    return folder / "rules.yaml"


def started(path: Path) -> tuple[float, float]:
    """Return the seconds of CPU to read a file of rules, and the bytes of a principal."""
    before_s = time.thread_time()
    principals = load_access(path).rules.principals
    return time.thread_time() - before_s, principals.memory_bytes / PRINCIPALS


# --- telling ---------------------------------------------------------------------------------------------------------


def _spread(found: list[float]) -> dict[str, float]:
    return {"median": statistics.median(found), "least": min(found), "most": max(found)}


def _tell_timed(rounds: int, as_json: bool) -> None:
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in RULES}
    for _ in range(rounds):
        for name, rule in RULES.items():
            runs[name].append(asyncio.run(subscribed_us(rule)))
    for at, which in enumerate(("the first of its class", "asked before")):
        without_us = statistics.median(each[at] for each in runs["without rules"])
        for name, found in runs.items():
            spread = _spread([each[at] for each in found])
            told = {"what": f"us of CPU a SUBSCRIBE, {which}", "case": name, **spread}
            tell(told | {"more": spread["median"] / without_us - 1}, as_json)
    with tempfile.TemporaryDirectory(prefix="tamis-access-") as folder:
        path = _written(Path(folder))
        read = [started(path) for _ in range(rounds)]
    told = {"bytes_each": read[0][1]}
    tell({"what": f"s of CPU to read {PRINCIPALS} principals", **_spread([s for s, _ in read]), **told}, as_json)


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of what is timed (5)")
    parser.add_argument("--feed", choices=CASES, help="feed one case, and print nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    options = parser.parse_args()
    if options.feed:
        _feed(options.feed)
        return
    if callgrind.is_installed():
        for what in MESSAGES:
            tell({"what": f"instructions a message, {what}", **counted(what)}, options.json)
    tell({"what": f"guard asked, {RECEIVERS} receivers", "times_a_message": _handed(has_rules=True)}, options.json)
    _tell_timed(options.rounds, options.json)


if __name__ == "__main__":
    main()
