"""R5b, R6, R11, R16: the routes of messages between routers. This is the twin of the C switch in Python.

Law: a *generation* is the trees of one topology. The newest is in force. An earlier one stays in force for
`tree_hold_us` after the next one replaced it, and only while it is among the last four. A message is accepted from the
parent in any generation in force. It is sent on all links behind which any generation in force has a router with a
matching filter, as the policy of the strategy decides for each generation (`policies.py`). The route depends on the
number of the message's source alone or, for a message that names a root (`forest.py`), on that of the root: along the
root's tree a message is accepted from the direction of its source, and always sent towards the root, whatever clients
subscribe to.

The order of checks is part of the law. The parent comes first, so that a neighbour that is not the parent cannot use up
a counter; then the epoch, which must be valid; then the window, which records the counter; last the hops, so that a
message without hops left is recorded, too. Every link after the first takes one hop from a message, and a message that
arrives with none left is refused.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from tamis.protocol.messages import Message
from tamis.protocol.wire.extensions import LinkKeys, RouterSet
from tamis.protocol.wire.numbers import NO_DIGEST
from tamis.router.core.commands import ANY_EPOCH
from tamis.router.core.epochs import EPOCH_MAX
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.layer import HOPS_TO_SPARE
from tamis.router.core.routing.reuse import NO_TABLES, HeldTables
from tamis.router.core.routing.trees import GENERATIONS_MAX, Trees
from tamis.router.core.times import Times
from tamis.simulate.twin.group_choice import Choices, Weights, choose, pick, turn_of
from tamis.simulate.twin.policies import WANTED, Policy
from tamis.simulate.twin.table import PureTable
from tamis.simulate.twin.windows import ReachedStamps, TransitWindows, WindowPlace


class WantsTable(Protocol):
    """R6: the issuers with filters that match a message, independent of the topology."""

    def install(self, issuer: int, added: Mapping[int, bytes], removed: Collection[int]) -> None:
        """Add packed filters by id, then remove ids."""

    def matching(self, message: Message) -> Collection[int]:
        """Return once each issuer with a filter that the message satisfies."""


class TransitId(NamedTuple):
    """The stamp of a message where it enters the network; (epoch, counter) of one source never repeat."""

    source: int
    epoch: int
    counter: int


class TransitRefusal(enum.Enum):
    """Why a message that arrived over a link is not forwarded."""

    NOT_FROM_PARENT = "not from a parent"
    EPOCH = "of an invalid epoch"
    SEEN = "seen before"
    NO_HOPS_LEFT = "no hops left"


class _Generation(NamedTuple):
    trees: Trees
    forest: Forest
    until_us: int | None
    """The time at which the generation ends; None: it is the newest."""

    def in_force(self, now_us: int) -> bool:
        return self.until_us is None or now_us < self.until_us

    def trees_of(self, root: int | None) -> Trees | None:
        """Return the trees of messages that name `root`, or (None) no root. None: the generation has no tree of
        `root`."""
        return self.trees if root is None else self.forest.trees.get(root)


class Forwarder:
    """The decisions of one router about messages. Before the first `reroute` it accepts none and sends none."""

    def __init__(self, me: int, epoch: int, times: Times, policy: Policy = WANTED) -> None:
        self.me: Final = me
        self._policy = policy
        self._epoch = epoch
        self._counter = 0
        self._hold_us = times.tree_hold_us
        self._wait_us = min(times.way_wait_us, times.tree_hold_us)
        self.waits_until_us = 0
        """R5c: the time until which messages on new paths wait for those on old ones."""
        self._generations: deque[_Generation] = deque()  # the newest first, ended ones last
        self._windows = TransitWindows()
        self._reached = ReachedStamps()
        """R5c: the messages that arrived since the newest trees, while messages wait for those on older paths."""
        self._leapers: dict[int, int] = {}
        """Maps a source to the neighbour over which its messages last leapt far ahead."""
        self.epoch_max = EPOCH_MAX
        """The highest epoch of which messages are accepted."""
        self._bounds: dict[int, int] = {}
        """Maps a source to the highest epoch of its messages, if that differs from `epoch_max`."""
        self.group_key = b""
        """R16: the key of the hash by which routers of members are chosen."""
        self.tables: HeldTables = NO_TABLES
        """R13: the interest of others that the table contains, set once the table is complete."""

    def reroute(self, trees: Trees, now_us: int, is_whole: bool = True, forest: Forest = NO_FOREST) -> None:
        """Put `trees` and `forest` in force. `is_whole`: no path has broken within the hold."""
        self._forget(now_us)
        self.waits_until_us = now_us + self._wait_us if is_whole else 0
        self._reached.clear()
        if self._generations:
            self._generations[0] = self._generations[0]._replace(until_us=now_us + self._hold_us)
        self._generations.appendleft(_Generation(trees, forest, None))
        while len(self._generations) > GENERATIONS_MAX:
            self._generations.pop()

    def name_roots(self, roots: tuple[int, ...]) -> None:
        """E10: let messages that enter from now on name these roots, of which the newest forest has the trees."""
        newest = self._generations[0]
        self._generations[0] = newest._replace(forest=replace(newest.forest, roots=roots))

    def raise_epoch(self, epoch: int) -> None:
        """R9: give messages that enter from now on the new epoch, and count them from 1 again."""
        if epoch == self._epoch:
            raise ValueError(f"epoch {epoch} is the present one")
        self._epoch, self._counter = epoch, 0

    def forget(self, source: int) -> None:
        """R8: forget `source`, which is unknown now: its messages may come with any epoch."""
        self._windows.forget(source)
        self._leapers.pop(source, None)
        self._bounds.pop(source, None)

    def bound(self, source: int, epoch_max: int) -> None:
        """Accept messages of `source` up to `epoch_max` from now on, and forget accepted ones of later epochs.
        ANY_EPOCH removes the bound: `epoch_max` of all sources applies."""
        if epoch_max == ANY_EPOCH:
            self._bounds.pop(source, None)
        else:
            self._bounds[source] = epoch_max
            self._windows.forget_above(source, epoch_max)

    def enter(self, now_us: int) -> tuple[TransitId, int]:
        """Return the stamp and the hop limit of a message that enters here. The limit is the largest of the generations
        in force, since the message may take the routes of each."""
        self._forget(now_us)
        self._counter += 1
        return TransitId(self.me, self._epoch, self._counter), self.hop_limit()

    def hop_limit(self) -> int:
        """Return the hop limit of a message that starts its route here."""
        trees = [tree for each in self._generations for tree in (each.trees, *each.forest.trees.values())]
        return max([tree.hop_limit() for tree in trees], default=HOPS_TO_SPARE)

    def root_of(self, classes: Collection[int], now_us: int) -> int | None:
        """Return the root for a message that enters here and is in these classes; None if it names none."""
        self._forget(now_us)
        return self._generations[0].forest.root_of(classes) if self._generations else None

    def arrive(
        self, transit: TransitId, hops_left: int, came_from: int, now_us: int, root: int | None = None
    ) -> TransitRefusal | None:
        """Check a message that arrived over a link. `root`: the root that it names, if any. None: accept it, deliver
        it, and forward it with one hop less."""
        self._forget(now_us)
        if not self.takes_from(transit.source, came_from, root):
            return TransitRefusal.NOT_FROM_PARENT
        place = self._windows.place(*transit)
        if place is not WindowPlace.NEAR and transit.epoch > self._bounds.get(transit.source, self.epoch_max):
            return TransitRefusal.EPOCH  # a message with a near counter has an accepted epoch
        self._judge_leap(transit, came_from, place, root)
        is_fresh = self._windows.fresh(*transit)
        if now_us < self.waits_until_us:
            self._reached.note(*transit, root)
        if not is_fresh:
            return TransitRefusal.SEEN
        return TransitRefusal.NO_HOPS_LEFT if hops_left == 0 else None

    def must_wait(
        self, transit: TransitId, came_from: int, linked: Collection[int], now_us: int, root: int | None = None
    ) -> bool:
        """R5c: return whether a message that arrived on one path of its source (and root) waits for earlier ones: a
        linked neighbour on an older path has not yet sent that message, or a later one along an equal tree. A path is
        as old as the oldest trees that have it, among those in force for as long as messages wait. Call this again when
        a message has arrived on another path, a link has ended, or `waits_until_us` has passed."""
        if now_us >= self.waits_until_us or self._reached.has(*transit, root) or self._windows.has_seen(*transit):
            return False
        self._forget(now_us)
        ages: dict[int | None, int] = {}
        for age, trees in enumerate(self._trees(root, self.waits_until_us)):
            ages[trees.parent(transit.source)] = age
        mine = ages.get(came_from)
        return mine is not None and any(age > mine and parent in linked for parent, age in ages.items())

    def takes_from(self, source: int, neighbour: int | None, root: int | None = None) -> bool:
        """Return whether `neighbour` is the parent of `source` in any generation in force, along the tree of `root` or
        (None) in its own."""
        return any(self._policy.accept(trees, source, neighbour) for trees in self._trees(root))

    def _trees(self, root: int | None, until_us: int = 0) -> Iterator[Trees]:
        """Yield the trees in force of a message that names `root` or (None) no root, the newest first; only those that
        are in force until `until_us`."""
        for generation in self._generations:
            trees = generation.trees_of(root)
            if trees is not None and (generation.until_us is None or generation.until_us >= until_us):
                yield trees

    def _judge_leap(self, transit: TransitId, came_from: int, place: WindowPlace, root: int | None) -> None:
        """Record over which neighbour a source leapt far ahead, and undo the leap when that neighbour is no longer a
        parent of the source: a message far behind that arrives on another path then begins a new window, so that a
        former parent cannot suppress messages."""
        source, leaper = transit.source, self._leapers.get(transit.source)
        if place is WindowPlace.AHEAD:
            self._leapers[source] = came_from
        elif (
            place is WindowPlace.BEHIND
            and leaper not in (None, came_from)
            and not self.takes_from(source, leaper, root)
        ):
            self._windows.forget(source)
            self._leapers[source] = came_from

    def departures(
        self,
        source: int,
        matched: Collection[int],
        now_us: int,
        came_from: int | None = None,
        root: int | None = None,
    ) -> tuple[int, ...]:
        """Return the links on which a message of `source` is sent, ascending: those behind which a router of `matched`
        lies, without the link it arrived on (None: it entered here). Along the tree of `root` it is also sent towards
        the root. A link of an earlier generation may have ended."""
        self._forget(now_us)
        links: set[int] = set()
        for trees in self._trees(root):
            links.update(self._policy.targets(trees, source if root is None else root, matched))
            up = None if root is None else trees.parent(root)
            links.update(() if up is None else (up,))
        return tuple(sorted(link for link in links if link != came_from))

    def listed(self, matched: Collection[int], now_us: int) -> frozenset[int] | None:
        """Return the routers that are listed in a message which enters here: those of `matched` that are reachable in
        any generation in force. None: none are listed, so each router on its path matches it."""
        self._forget(now_us)
        below = [generation.trees.below(self.me) for generation in self._generations]
        found = frozenset(router for router in matched if any(router in each for each in below))
        return found if 0 < len(found) <= self._policy.destinations_max else None

    @property
    def reuses(self) -> bool:
        """Whether the forwarder needs the digest of the table (`tables`)."""
        return self._policy.reuses or self._policy.keys_max > 0

    def stated(self, matched: Collection[int], now_us: int) -> RouterSet | None:
        """R13: return the set of `matched` for a message which enters here. None: it has no set, because the policy has
        none, or because several generations are in force, and older ones may reach routers that the newest does not."""
        self._forget(now_us)
        if not self._policy.reuses or len(self._generations) != 1:
            return None
        return self.tables.set_of(matched)

    def believed(self, stated: RouterSet | None) -> frozenset[int] | None:
        """R13: return the routers with matching filters for a message with a set, if the set was made from tables equal
        to this router's; None: this router matches the message."""
        return self.tables.believed(stated) if stated is not None and self._policy.reuses else None

    def may_use(self, stated: LinkKeys | None) -> bool:
        """R13b: return whether keys may be looked up, or (None) written: by routes of one generation, and in whole
        tables, equal to those that they were found in."""
        is_whole = self.tables.digest != NO_DIGEST and len(self._generations) == 1
        return is_whole and (stated is None or stated.digest == self.tables.digest)

    def by_keys(
        self, source: int, content: int, stated: LinkKeys | None, table: PureTable, now_us: int, came_from: int | None
    ) -> dict[int, LinkKeys | None] | None:
        """R13b: return the links on which a message of `source` is sent, each with the keys of its copy, if any: links
        with a key among `stated`, and unless these are complete, other links that match, each for a limited number of
        filters. None: the message is matched for all links, and its copies carry no keys."""
        self._forget(now_us)
        if self._policy.keys_max == 0 or not self._generations or not self.may_use(stated):
            return None
        below = self._generations[0].trees.below(source)
        found: dict[int, list[int]] = {}
        is_complete = stated is not None and stated.complete
        for key in () if stated is None else stated.keys:
            issuers = table.issuers_of(key)
            is_complete &= len(issuers) < 2
            if len(issuers) == 1 and below.get(issuers[0], came_from) != came_from:
                found.setdefault(below[issuers[0]], []).append(key)
        links: dict[int, LinkKeys | None] = {
            link: LinkKeys(is_complete, self.tables.digest, tuple(keys)) for link, keys in found.items()
        }
        return links if is_complete else links | self._matched(content, table, below, {*links, came_from})

    def _matched(
        self, content: int, table: PureTable, below: Mapping[int, int], without: Collection[int | None]
    ) -> dict[int, LinkKeys | None]:
        """Return the links whose filters match `content`, except `without`, each with its keys."""
        found: dict[int, list[int]] = {}
        for issuer, key in table.keys_of(content):
            if below.get(issuer) not in (None, *without):
                found.setdefault(below[issuer], []).append(key)
        links: dict[int, LinkKeys | None] = {}
        for link, keys in found.items():
            some = keys[: self._policy.keys_max]
            named = tuple(key for key in some if len(table.issuers_of(key)) == 1)
            links[link] = LinkKeys(len(named) == len(keys), self.tables.digest, named) if named else None
        return links

    # --- worker groups

    def choices(self, transit: TransitId, members: Mapping[int, Weights], stated: Choices | None) -> Choices:
        """R16: return the routers at which groups receive a message. `stated` are the choices in the message, which are
        final; None: the message enters here, and one reachable router is chosen for each group. `members` has the
        routers that state members, including this one if it has some."""
        if stated is not None:
            return stated
        within = {group: self._within(weights, {self.me}) for group, weights in members.items()}
        return choose(self.group_key, transit, within)

    def another(self, transit: TransitId, group: int, weights: Weights) -> int | None:
        """R16: return the router that receives a message in place of this one, which was chosen and has no member left;
        None if no such router is reachable."""
        return pick(self._within(weights, frozenset()), turn_of(self.group_key, transit, group))

    def towards(self, router: int) -> int | None:
        """Return the neighbour for a message to `router` alone, by the newest trees that have a route; None if none
        has."""
        ways = (generation.trees.next_hop(router) for generation in self._generations)
        return next((way for way in ways if way is not None), None)

    def _within(self, weights: Weights, reach: Collection[int]) -> Weights:
        """Return the part of `weights` about routers in `reach` or reachable by the newest trees; if it is empty, by
        older trees in force (R5b)."""
        for generation in self._generations:
            below = generation.trees.below(self.me)
            within = {router: each for router, each in weights.items() if router in below or router in reach}
            if within:
                return within
        return {router: each for router, each in weights.items() if router in reach}

    def onward(self, hops_left: int, came_from: int | None) -> int:
        """Return the hops left in copies of a message that arrived with `hops_left`, or (`came_from` None) entered
        here."""
        return self._policy.annotate(hops_left, came_from)

    def _forget(self, now_us: int) -> None:
        """Drop the trees of the generations that have ended; an ended generation never returns."""
        while self._generations and not self._generations[-1].in_force(now_us):
            self._generations.pop()
