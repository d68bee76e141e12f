"""The operations on a network: plain data, made in advance from a seed.

Law: an operation states an attempt; if it is impossible (because others were left out) nothing happens. Any part of a
list of operations can therefore be run alone, which shrinking needs. Times count from the beginning of a round; between
rounds the network comes to rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from tamis.simulate.faults import rules, schemas
from tamis.simulate.faults.topologies import NetworkPlan
from tamis.simulate.faults.workload import CONTENTS

MS: Final = 1_000
Args = tuple[int, ...]


class Say(NamedTuple):
    """One publication, and optionally a second attempt at another router."""

    after_us: int
    publisher: int
    router: int
    content: int
    retry_after_us: int
    """The time from the first attempt to the second one; 0: there is no second one."""
    retry_router: int


class Operation(NamedTuple):
    number: int
    round: int
    at_us: int
    kind: str
    args: Args
    says: tuple[Say, ...]


CHURN: Final = ("subscribe", "subscribe", "unsubscribe", "reconnect", "move")
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "cut": ("cut", "restore"),
    "reset": ("reset",),
    "half-open": ("darken", "restore"),
    "stall": ("stall",),
    "lose": ("lose",),
    "add": ("add",),
    "crash": ("crash", "return"),
    "partition": ("partition", "merge"),
    "jump": ("jump",),
    "flood": ("flood",),
    "leave": ("leave", "return"),
    "rewind": ("rewind",),
    "clock": ("clock", "set-right"),
    "forge": ("forge",),
    "groups": ("join", "join", "quit"),
    "spaces": ("put",),
    "durables": ("create", "create", "remove"),
    "rules": ("reload",),
    "programs": ("subscribe", "unsubscribe", "create", "remove"),
    "custody": (
        *("create", "create", "create", "remove", "power", "power", "wake", "wake", "return"),
        *("fill", "back-up", "put-back"),
    ),
}
"""Maps a kind of fault to the operations that cause and undo it. Five kinds are no faults: with `groups` clients share
messages in groups, with `spaces` messages are validated by spaces, which change, with `durables` clients create and
remove durable subscriptions, with `rules` each router enforces rules of access, which it reloads, and with `programs`
some subscriptions have a residual program, which one router does not run. With `custody` publishers wait until durable
subscriptions at other routers are served, and disks fail."""
NO_FAULTS: Final = ("groups", "spaces", "durables", "rules", "programs", "custody")
ACCIDENTS: Final = tuple(kind for kind in KINDS if kind not in ("clock", "forge", *NO_FAULTS))
MIXES: Final[dict[str, tuple[str, ...]]] = {
    "none": (),
    "all": ACCIDENTS,
    "worst": (*ACCIDENTS, "clock", "forge"),
    "grouped": (*ACCIDENTS, *("groups",) * len(ACCIDENTS)),
    "spaced": (*ACCIDENTS, *("spaces",) * (len(ACCIDENTS) // 2)),
    "durable": (*ACCIDENTS, *("durables",) * len(ACCIDENTS)),
    "stored": (*ACCIDENTS, *("custody",) * len(ACCIDENTS)),
    "ruled": (*ACCIDENTS, *("rules",) * (len(ACCIDENTS) // 2)),
    "decided": (*ACCIDENTS, *("programs",) * (len(ACCIDENTS) // 2)),
}
"""Maps the name of a mix to its kinds of faults. `all` are accidents. `worst` adds wrong clocks and a hostile router;
`grouped` adds, as often as faults, clients that join and leave worker groups; `spaced` adds changes of spaces, half as
often; `durable` adds durable subscriptions, as often as faults; `stored` adds, as often, custody of messages and faults
of disks; `ruled` adds reloads of rules of access, half as often; `decided` adds subscriptions with residual programs,
likewise."""
DAY_MS: Final = 86_400_000
CLOCKS_MS: Final = tuple(days * DAY_MS for days in (-3_650, -30, -2, -1, 1, 3, 30, 3_650))
FORGERIES: Final = 3
"""The number of frames that the hostile router sends in one operation."""
CLIENTS_PER_ROUTER: Final = 3
WISHES: Final = 80
PUBLISHERS: Final = 8
WISHES_PER_CLIENT: Final = 4
GROUPS: Final = 3
DURABLE_NAMES: Final = 12
MEMBERSHIPS_PER_CLIENT: Final = 2
ROUND: Final = (8, 40)
LOSSY_ROUNDS: Final = 0.2
"""The share of rounds with silent losses of frames. These are repaired only within minutes, so other rounds have
none."""


def kinds_of(mix: str) -> tuple[str, ...]:
    """Return the kinds of faults in `mix`: the name of one, or kinds joined by commas; ValueError for others."""
    if mix in MIXES:
        return MIXES[mix]
    names = tuple(mix.split(","))
    for name in names:
        if name not in KINDS:
            raise ValueError(f"{name!r} is no kind of fault; choose {', '.join(MIXES)}, or some of {', '.join(KINDS)}")
    return names


@dataclass(slots=True)
class Guess:
    """The planner's estimate of the network's state, if each operation so far succeeded."""

    network: NetworkPlan
    random: Random
    down: set[int] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)
    """The links that are cut or dark, by a fault of the link or by the partition."""
    added: int = 0
    pairs: set[tuple[int, int]] = field(default_factory=set)
    wishes: dict[int, set[int]] = field(default_factory=dict)
    memberships: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    partitioned: bool = False
    off: int | None = None
    """The router with a wrong clock, or None: one at a time, so that most neighbours of every router have a right
    clock."""
    hostile: int | None = None
    backups: set[int] = field(default_factory=set)
    """The routers of whose disks there is a backup."""
    lossy: bool = False
    """Whether frames may be lost silently in the current round."""

    @property
    def size(self) -> int:
        return len(self.network.names)

    @property
    def links(self) -> int:
        return len(self.network.links) + self.added

    @property
    def clients(self) -> int:
        return self.size * CLIENTS_PER_ROUTER


Make = Callable[[Guess], Args | None]


def _subscribe(guess: Guess) -> Args | None:
    client, wish = guess.random.randrange(guess.clients), guess.random.randrange(WISHES)
    mine = guess.wishes.setdefault(client, set())
    if wish in mine or len(mine) >= WISHES_PER_CLIENT:
        return None
    mine.add(wish)
    return client, wish, int(guess.random.random() < 0.3)


def _unsubscribe(guess: Guess) -> Args | None:
    client = guess.random.randrange(guess.clients)
    mine = sorted(guess.wishes.get(client, ()))
    if not mine:
        return None
    wish = guess.random.choice(mine)
    guess.wishes[client].remove(wish)
    return client, wish


def _reconnect(guess: Guess) -> Args | None:
    return guess.random.randrange(guess.clients), guess.random.choice((1, 20, 300, 1_500, 4_000)) * MS


def _move(guess: Guess) -> Args | None:
    client = guess.random.randrange(guess.clients)
    return client, guess.random.choice((1, 20, 300, 1_500)) * MS, guess.random.randrange(guess.size)


def _some_link(guess: Guess, broken: bool) -> int | None:
    links = [link for link in range(guess.links) if (link in guess.broken) is broken]
    return guess.random.choice(links) if links else None


def _cut(guess: Guess) -> Args | None:
    link = _some_link(guess, broken=False)
    if link is None:
        return None
    guess.broken.add(link)
    return link, int(guess.random.random() < 0.5)


def _restore(guess: Guess) -> Args | None:
    link = _some_link(guess, broken=True)
    if link is None:
        return None
    guess.broken.remove(link)
    return (link,)


def _reset(guess: Guess) -> Args | None:
    link = _some_link(guess, broken=False)
    return None if link is None else (link,)


def _darken(guess: Guess) -> Args | None:
    link = _some_link(guess, broken=False)
    if link is None:
        return None
    guess.broken.add(link)
    return link, guess.random.choice((1, 2, 3))


def _stall(guess: Guess) -> Args | None:
    link = _some_link(guess, broken=False)
    return None if link is None else (link, guess.random.randrange(2), guess.random.randint(20, 700) * MS)


def _lose(guess: Guess) -> Args | None:
    link = _some_link(guess, broken=False)
    what = guess.random.choice(((1, 0), (3, 0), (0, 2), (1, 1)))
    return None if link is None else (link, guess.random.randrange(2), *what)


def _add(guess: Guess) -> Args | None:
    a, b = sorted((guess.random.randrange(guess.size), guess.random.randrange(guess.size)))
    if a == b or (a, b) in guess.pairs or guess.added >= guess.size:
        return None
    guess.pairs.add((a, b))
    guess.added += 1
    return a, b, guess.random.choice((1, 1, 2))


def _crash(guess: Guess) -> Args | None:
    up = [router for router in range(guess.size) if router not in guess.down]
    if len(up) <= max(1, guess.size // 2):
        return None
    router = guess.random.choice(up)
    guess.down.add(router)
    return router, int(guess.random.random() < 0.5)


def _return(guess: Guess) -> Args | None:
    if not guess.down:
        return None
    router = guess.random.choice(sorted(guess.down))
    guess.down.remove(router)
    return router, int(guess.random.random() < 0.7)


def _partition(guess: Guess) -> Args | None:
    """Plan a partition: return the routers of one side as bits, and whether the cut is silent."""
    if guess.partitioned or guess.size < 2:
        return None
    guess.partitioned = True
    return guess.random.randint(1, (1 << guess.size) - 2), int(guess.random.random() < 0.5)


def _merge(guess: Guess) -> Args | None:
    if not guess.partitioned:
        return None
    guess.partitioned = False
    return ()


def _jump(guess: Guess) -> Args | None:
    return guess.random.randrange(guess.size), guess.random.choice((-86_400_000, -3_600_000, -5_000, 5_000, 3_600_000))


def _leave(guess: Guess) -> Args | None:
    crashed = _crash(guess)
    return None if crashed is None else crashed[:1]


def _rewind(guess: Guess) -> Args | None:
    """Plan a restart of a publisher: return the publisher and the seconds by which its clock was moved."""
    return guess.random.randrange(PUBLISHERS), guess.random.choice((-86_400, -3_600, -5, 5, 3_600))


def _flood(guess: Guess) -> Args | None:
    link = _some_link(guess, broken=False)
    return None if link is None else (link, guess.random.randrange(2), guess.random.choice((5, 40)))


def _clock(guess: Guess) -> Args | None:
    if guess.off is not None or guess.size < 2:
        return None
    guess.off = guess.random.randrange(guess.size)
    return guess.off, guess.random.choice(CLOCKS_MS)


def _set_right(guess: Guess) -> Args | None:
    if guess.off is None:
        return None
    router, guess.off = guess.off, None
    return (router,)


def _forge(guess: Guess) -> Args | None:
    """Plan a forgery of the hostile router, which is one router for the whole run; the frames are made when the
    operation runs. Forgeries that may be accepted for a while are sent in lossy rounds only."""
    if guess.hostile is None:
        guess.hostile = guess.random.randrange(guess.size)
    return guess.hostile, guess.random.randint(1, FORGERIES), int(guess.lossy)


def _join(guess: Guess) -> Args | None:
    """Plan that a client becomes a member: return the client, a wish and a group."""
    client = guess.random.randrange(guess.clients)
    membership = guess.random.randrange(WISHES), guess.random.randrange(GROUPS)
    mine = guess.memberships.setdefault(client, set())
    if membership in mine or len(mine) >= MEMBERSHIPS_PER_CLIENT:
        return None
    mine.add(membership)
    return client, *membership


def _quit(guess: Guess) -> Args | None:
    client = guess.random.randrange(guess.clients)
    mine = sorted(guess.memberships.get(client, ()))
    if not mine:
        return None
    membership = guess.random.choice(mine)
    guess.memberships[client].remove(membership)
    return client, *membership


def _put(guess: Guess) -> Args | None:
    """Plan a change of a space: return the router to request it from, the space and its new definition."""
    random = guess.random
    return random.randrange(guess.size), random.randrange(len(schemas.NAMES)), random.randrange(len(schemas.SHAPES))


def _create(guess: Guess) -> Args | None:
    """Plan a durable subscription: return its router, its name and a wish."""
    random = guess.random
    return random.randrange(guess.size), random.randrange(DURABLE_NAMES), random.randrange(WISHES)


def _remove(guess: Guess) -> Args | None:
    """Plan the removal of a durable subscription: return its router, and which of those that it has."""
    return guess.random.randrange(guess.size), guess.random.randrange(DURABLE_NAMES)


def _reload(guess: Guess) -> Args | None:
    """Plan a reload of the rules of access: return the router and the number of the file."""
    return guess.random.randrange(guess.size), guess.random.randrange(rules.FILES)


def _power(guess: Guess) -> Args | None:
    """Plan a power cut: return the router, whether its links end silently, and how much of what it was writing is on
    disk, per mille."""
    crashed = _crash(guess)
    return None if crashed is None else (*crashed, guess.random.choice((0, 300, 700, 1_000)))


def _wake(guess: Guess) -> Args | None:
    """Plan that a router returns with its disk."""
    returned = _return(guess)
    return None if returned is None else (returned[0], 1)


def _fill(guess: Guess) -> Args | None:
    return guess.random.randrange(guess.size), guess.random.choice((100, 500, 3_000)) * MS


def _back_up(guess: Guess) -> Args | None:
    router = guess.random.randrange(guess.size)
    guess.backups.add(router)
    return (router,)


def _put_back(guess: Guess) -> Args | None:
    """Plan that a router crashes and its disk is put back to its backup."""
    crashed = _crash(guess) if guess.backups - guess.down else None
    if crashed is not None:
        guess.down.remove(crashed[0])
        crashed = guess.random.choice(sorted(guess.backups - guess.down)), crashed[1]
        guess.backups.remove(crashed[0])
        guess.down.add(crashed[0])
    return crashed


MAKE: Final[dict[str, Make]] = {
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "reconnect": _reconnect,
    "move": _move,
    "cut": _cut,
    "restore": _restore,
    "reset": _reset,
    "darken": _darken,
    "stall": _stall,
    "lose": _lose,
    "add": _add,
    "crash": _crash,
    "return": _return,
    "partition": _partition,
    "merge": _merge,
    "jump": _jump,
    "flood": _flood,
    "leave": _leave,
    "rewind": _rewind,
    "clock": _clock,
    "set-right": _set_right,
    "forge": _forge,
    "join": _join,
    "quit": _quit,
    "put": _put,
    "create": _create,
    "remove": _remove,
    "reload": _reload,
    "power": _power,
    "wake": _wake,
    "fill": _fill,
    "back-up": _back_up,
    "put-back": _put_back,
}


def plan(network: NetworkPlan, count: int, kinds: tuple[str, ...], seed: int, says: int = 4) -> list[Operation]:
    """Plan `count` operations, about half of them faults if the mix has any. `says` is the average number of
    publications for each."""
    random = Random(f"{seed}/operations")
    guess = Guess(network, random, pairs={(a, b) for a, b, _ in network.links})
    operations: list[Operation] = []
    round_, left, at_us, lossy = 0, 0, 0, False
    while len(operations) < count:
        if left == 0:
            round_, left, at_us, lossy = round_ + 1, random.randint(*ROUND), 0, random.random() < LOSSY_ROUNDS
            guess.lossy = lossy
        kind = _choose(random, kinds, lossy)
        args = MAKE[kind](guess)
        if args is None:
            continue
        gap_us = _gap(random)
        at_us += gap_us
        spoken = tuple(_say(guess, gap_us) for _ in range(random.randint(0, 2 * says)))
        operations.append(Operation(len(operations), round_, at_us, kind, args, spoken))
        left -= 1
    return operations


def _choose(random: Random, kinds: tuple[str, ...], lossy: bool) -> str:
    if kinds and random.random() < 0.6:
        kind = random.choice(kinds)
        if kind != "lose" or lossy or kinds == ("lose",):
            return random.choice(KINDS[kind])
    return random.choice(CHURN)


def _gap(random: Random) -> int:
    """Draw the pause before the next operation: up to 40 ms (a burst), up to 400 ms, or seconds."""
    fastest, slowest = random.choice(((0, 40), (0, 40), (40, 400), (40, 400), (2_000, 5_000)))
    return random.randint(fastest * MS, slowest * MS)


def _say(guess: Guess, gap_us: int) -> Say:
    """Draw a publication: usually soon after the operation, while tables still change, otherwise at any time before the
    next one."""
    random = guess.random
    after_us = random.randint(0, 150 * MS if random.random() < 0.6 else max(gap_us, 150 * MS))
    again_us = random.randint(20, 600) * MS if random.random() < 0.15 else 0
    router, other = random.randrange(guess.size), random.randrange(guess.size)
    return Say(after_us, random.randrange(PUBLISHERS), router, random.randrange(len(CONTENTS)), again_us, other)
