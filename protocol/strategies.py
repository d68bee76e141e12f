"""The strategies by which routers share the work of filtering, with the facts about each that other parts of Tamis use.

Law: this is the only list of strategies. Their implementations are in `router/core/strategies/`, under these names;
nothing else in Tamis compares the name of a strategy, but reads a property that is stated here.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

Option = str | bool


class Asks(enum.Enum):
    """What a router states about the messages that it needs from the others."""

    WANTED = "the interest of its clients"
    EVERYTHING_FOR_CLIENTS = "every message, while a client of its own has a subscription"
    EVERYTHING = "every message"
    BY_EDGES = "every message, and to its tree neighbours the interest behind it"


@dataclass(frozen=True, slots=True)
class StrategyFacts:
    """A strategy, and the properties of a network that follows it."""

    name: str
    """The name in experiments and in `tamis simulate --strategy`."""
    key: str
    """The value of `strategy.name` in a topology file."""
    options: Mapping[str, Option]
    """The other keys of `strategy` in a topology file that choose it. The first entry of a `key` has the defaults."""
    recorded: str
    """The name in the records of routers."""
    sentence: str
    keys: tuple[str, ...] = field(default=(), kw_only=True)
    """Other keys of `strategy` in a topology file that the strategy accepts. They choose no strategy."""
    asks: Asks = field(default=Asks.WANTED, kw_only=True)
    loses_nothing: bool = True
    """Every message reaches every subscriber it concerns while the network is stable, and the state of routers can be
    compared with the true one."""
    goes_where_wanted: bool = True
    """A message takes only shortest routes to routers that have matching filters, so an audit can tell its route."""
    layer: str | None = field(default=None, kw_only=True)
    """The broadcast layer of the strategy; None: that of the topology file."""
    states_all: bool = field(default=False, kw_only=True)
    """A router states every distinct filter of its clients, those that others cover included."""
    has_roots: bool = field(default=False, kw_only=True)
    """Messages go by way of the root of their class, even if nothing behind it subscribes to them."""
    carries_groups: bool = True
    """Every router knows the members of worker groups at every other one, by which entry routers choose."""

    @property
    def limits_matches(self) -> bool:
        """Whether routers need an engine that can stop a match after some filters."""
        return KEYS_MAX in self.keys

    @property
    def merges(self) -> bool:
        """Whether a router may state a filter that covers several of its own in their place."""
        return MERGE in self.keys


MERGE: Final = "merge"
KEYS: Final = "keys"
"""The value of `reuse` by which copies carry keys of matching filters, for which an engine must limit a match."""
KEYS_MAX: Final = "keys_max"
ROOT_KEYS: Final = ("classes", "roots", "others")

STRATEGIES: Final = (
    StrategyFacts(
        "advertise",
        "advertise",
        {"mode": "versioned", "reuse": "never"},
        "advertise",
        "Each router advertises the interest of its clients, with a version; messages go only to interested routers.",
        keys=(MERGE,),
    ),
    StrategyFacts(
        "paper",
        "advertise",
        {"mode": "paper", "reuse": "never"},
        "advertise (paper)",
        "Paper 004 to the letter: predicates by interface, without versions. It loses messages; for experiments.",
        loses_nothing=False,
        goes_where_wanted=False,
        carries_groups=False,
    ),
    StrategyFacts(
        "paper-bytes",
        "advertise",
        {"mode": "paper-bytes", "reuse": "never"},
        "advertise (paper, bytes)",
        "Paper 004, but an advertisement stops only where each of its filters is known byte by byte; for experiments.",
        loses_nothing=False,
        goes_where_wanted=False,
        carries_groups=False,
    ),
    StrategyFacts(
        "flood",
        "flood",
        {"prune": True},
        "flood",
        "Each router with a client requests every message; messages go to all of these, and the last router filters.",
        asks=Asks.EVERYTHING_FOR_CLIENTS,
    ),
    StrategyFacts(
        "flood-everywhere",
        "flood",
        {"prune": False},
        "flood (everywhere)",
        "Event forwarding of paper 003: every message goes to every router, and the last router filters.",
        asks=Asks.EVERYTHING,
    ),
    StrategyFacts(
        "link-matching",
        "link-matching",
        {"reuse": "never"},
        "link-matching",
        "Each router states every filter of its clients, covered or not; each router on the route matches as far as "
        "its links need.",
        states_all=True,
    ),
    StrategyFacts(
        "match-first",
        "match-first",
        {},
        "match-first",
        "A message is matched at its entry router and lists its destinations; with more than `destinations_max`, each "
        "router on the route matches.",
        keys=("destinations_max", MERGE),
    ),
    StrategyFacts(
        "advertise-destinations",
        "advertise",
        {"mode": "versioned", "reuse": "destinations"},
        "advertise (destinations)",
        "As `advertise`, but a message carries the set of its destinations; routers with equal tables match it only "
        "for their own clients.",
        keys=(MERGE,),
    ),
    StrategyFacts(
        "link-matching-destinations",
        "link-matching",
        {"reuse": "destinations"},
        "link-matching (destinations)",
        "As `link-matching`, but a message carries the set of its destinations; routers with equal tables match it "
        "only for their own clients.",
        states_all=True,
    ),
    StrategyFacts(
        "advertise-keys",
        "advertise",
        {"mode": "versioned", "reuse": "keys"},
        "advertise (keys)",
        "As `advertise`, but a copy carries keys of up to `keys_max` matching filters behind its link; routers with "
        "equal tables match only links without a key, or none if the keys are complete: lookup reuse of paper 001.",
        keys=(KEYS_MAX, MERGE),
    ),
    StrategyFacts(
        "link-matching-keys",
        "link-matching",
        {"reuse": "keys"},
        "link-matching (keys)",
        "As `link-matching`, but a copy carries keys of up to `keys_max` matching filters behind its link; routers "
        "with equal tables match only links without a key, or none if the keys are complete.",
        keys=(KEYS_MAX,),
        states_all=True,
    ),
    StrategyFacts(
        "profile",
        "profile",
        {"storing": "optimistic"},
        "profile",
        "Each router sends its neighbours in one tree the filters of the routers behind it, without covered ones: "
        "profile forwarding of paper 003, guarded.",
        asks=Asks.BY_EDGES,
        layer="shared-tree",
        keys=(MERGE,),
    ),
    StrategyFacts(
        "profile-preventive",
        "profile",
        {"storing": "preventive"},
        "profile (preventive)",
        "As `profile`, but covered filters are sent, too, so that the removal of a covering filter needs no repeat of "
        "them.",
        asks=Asks.BY_EDGES,
        layer="shared-tree",
    ),
    StrategyFacts(
        "rendezvous",
        "rendezvous",
        {"storing": "optimistic"},
        "rendezvous",
        "Messages of a class go to one router, its root, and from the route to it and from the root to interested "
        "routers: rendezvous nodes of paper 003, guarded.",
        asks=Asks.BY_EDGES,
        goes_where_wanted=False,
        layer="source-trees",
        keys=(*ROOT_KEYS, MERGE),
        has_roots=True,
    ),
    StrategyFacts(
        "rendezvous-preventive",
        "rendezvous",
        {"storing": "preventive"},
        "rendezvous (preventive)",
        "As `rendezvous`, but covered filters are sent, too, so that the removal of a covering filter needs no repeat "
        "of them.",
        asks=Asks.BY_EDGES,
        goes_where_wanted=False,
        layer="source-trees",
        keys=ROOT_KEYS,
        has_roots=True,
    ),
)
BY_NAME: Final = {strategy.name: strategy for strategy in STRATEGIES}
PLANNED: Final = ("adaptive",)
"""Names that a topology file may use in a later version."""
DEFAULT: Final = STRATEGIES[0]


def options_of(key: str) -> Mapping[str, Option]:
    """Return the options by which `strategy.name: key` of a topology file chooses a strategy, with their defaults; none
    if no strategy has `key`."""
    return next((strategy.options for strategy in STRATEGIES if strategy.key == key), {})


def takes(key: str, option: str) -> bool:
    """Return whether `strategy.name: key` of a topology file has this option, of either kind."""
    return any(strategy.key == key and option in (*strategy.options, *strategy.keys) for strategy in STRATEGIES)


def exists(key: str, options: Mapping[str, object]) -> bool:
    """Return whether `strategy.name: key` of a topology file and these options choose a strategy."""
    return any((strategy.key, strategy.options) == (key, options) for strategy in STRATEGIES)


def chosen(key: str, options: Mapping[str, Option]) -> StrategyFacts:
    """Return the strategy that `strategy.name` and its options in a topology file choose; KeyError if there is none."""
    found = [strategy for strategy in STRATEGIES if (strategy.key, strategy.options) == (key, options)]
    if not found:
        raise KeyError(f"strategy {key} has no {', '.join(f'{name}: {value}' for name, value in options.items())}")
    return found[0]


def recorded_as(text: str) -> StrategyFacts | None:
    """Return the strategy that records name by `text`; None if this release has none of that name."""
    return next((strategy for strategy in STRATEGIES if strategy.recorded == text), None)
