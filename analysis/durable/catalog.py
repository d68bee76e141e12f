"""The basis for judging stored messages: durable subscriptions and their policies, attached consumers, lives and holes
of routers.

Law: it is made from events alone and never changes; it is sent whole to where messages are judged. Spans are by the
clock of the router that wrote. A durable subscription is in force from the record that it was made, or found at a
start, to the one that it is removed, or to the end of that life.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tamis.analysis.questions.programs import with_program

TURN_US: Final = 50_000
"""The time of one turn of a router's loop; events of one turn may be recorded in another order."""
Row = Mapping[str, Any]
Place = tuple[str, int]
"""A router and a number: of a durable subscription, or of a life."""


class KnownLife(NamedTuple):
    epoch: int
    first_us: int
    last_us: int
    is_broken: bool
    """Whether the router recorded no stop: its last records may be missing, and changes that were not on disk are
    undone."""


class Span(NamedTuple):
    from_us: int
    to_us: int

    def meets(self, from_us: int, to_us: int) -> bool:
        return self.from_us <= to_us and self.to_us >= from_us


@dataclass(slots=True)
class KnownDurable:
    """A durable subscription of a router. `terms` is the policy in its record, empty if that is missing."""

    name: str = ""
    policy: Mapping[str, int] = field(default_factory=dict)
    overflow: str = ""
    order_by: str = ""
    latest_by: str = ""
    dead_letter: str = ""
    filters: frozenset[int] = frozenset()
    made_us: int | None = None
    forgotten_us: int | None = None
    lives: dict[int, Span] = field(default_factory=dict)
    """When it was in force, by life."""
    has_unknowns: bool = False

    @property
    def for_us(self) -> int:
        return self.policy.get("for_ms", 0) * 1_000

    @property
    def keeps_past(self) -> bool:
        return bool(self.for_us or self.latest_by)


@dataclass(slots=True)
class DurableCatalog:
    settle_us: int
    """The time before a crash within which changes may not have been on disk, or not in the records."""
    durables: dict[Place, KnownDurable] = field(default_factory=dict)
    lives: dict[Place, KnownLife] = field(default_factory=dict)
    members: dict[tuple[str, int, int, int], list[Span]] = field(default_factory=dict)
    """(router, epoch, durable, connection) -> when the consumer was attached."""
    holes: dict[str, list[Span]] = field(default_factory=dict)
    """When records are missing, of messages or of events, by router."""
    breaks: dict[str, list[Span]] = field(default_factory=dict)
    """From the last record of a life that broke off to the next life, by router."""
    given_to: dict[tuple[str, int, int], int] = field(default_factory=dict)
    """(router, epoch, durable) -> the highest position that was delivered for the first time then."""

    def is_dark(self, router: str, from_us: int, to_us: int) -> bool:
        """Return whether records of the router may be missing about then: a hole, or the end of a life that broke
        off."""
        breaks = any(span.meets(from_us, to_us) for span in self.breaks.get(router, ()))
        return breaks or self.has_hole(router, from_us, to_us)

    def has_hole(self, router: str, from_us: int, to_us: int) -> bool:
        return any(hole.meets(from_us, to_us) for hole in self.holes.get(router, ()))

    def may_be_undone(self, router: str, epoch: int, at_us: int) -> bool:
        """Return whether a change at that time may not have been on disk when its life broke off."""
        life = self.lives.get((router, epoch))
        return life is None or (life.is_broken and at_us > life.last_us - self.settle_us)

    def was_member(self, router: str, epoch: int, durable: int, connection: int, at_us: int) -> bool:
        spans = self.members.get((router, epoch, durable, connection), ())
        return any(span.meets(at_us - TURN_US, at_us + TURN_US) for span in spans)

    def had_members(self, router: str, durable: int, from_us: int) -> bool:
        """Return whether a consumer was attached at that time or later, long enough to receive a report."""
        return any(
            span.to_us - self.settle_us >= max(span.from_us, from_us)
            for (where, _, number, _), spans in self.members.items()
            if (where, number) == (router, durable)
            for span in spans
        )

    def later_lives(self, router: str, epoch: int) -> Iterator[int]:
        """Yield the lives of a router from this one on, in order."""
        yield from sorted(each for where, each in self.lives if where == router and each >= epoch)


def made_of(
    events: Iterable[Row], lives: Iterable[Row], holes: Iterable[Row], forms: Mapping[str, int], settle_us: int
) -> DurableCatalog:
    """Return the catalog from records of kind `keep`, lives and holes. `forms`: the numbers of filters."""
    catalog = DurableCatalog(settle_us)
    _take_lives(catalog, list(lives), holes)
    for event in sorted(events, key=lambda each: (each["router"], each["epoch"], each["n"])):
        _take(catalog, event, forms)
    return catalog


def _take_lives(catalog: DurableCatalog, lives: list[Row], holes: Iterable[Row]) -> None:
    breaks: defaultdict[str, list[Span]] = defaultdict(list)
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for row in lives:
        is_broken = row["end"] != "stopped"
        life = KnownLife(row["epoch"], row["first_us"], row["last_us"], is_broken)
        catalog.lives[row["router"], row["epoch"]] = life
        if is_broken:
            following = [each["first_us"] for each in lives if each["router"] == row["router"]]
            end_us = min((at for at in following if at > life.first_us), default=1 << 62)
            breaks[row["router"]].append(Span(life.last_us, end_us))
    for hole in holes:
        spans[hole["router"]].append(Span(hole["from_us"], hole["to_us"]))
    catalog.breaks, catalog.holes = dict(breaks), dict(spans)


def _take(catalog: DurableCatalog, event: Row, forms: Mapping[str, int]) -> None:
    router, epoch, at_us = event["router"], event["epoch"], event["t_us"]
    durable = catalog.durables.setdefault((router, event["durable"]), KnownDurable())
    life_end_us = catalog.lives[router, epoch].last_us if (router, epoch) in catalog.lives else at_us
    match event["what"]:
        case "made" | "found":
            _take_policy(durable, event, forms)
            durable.made_us = at_us if event["what"] == "made" else durable.made_us
            durable.forgotten_us = None
            durable.lives[epoch] = Span(at_us, life_end_us)
        case "forgotten":
            durable.forgotten_us = at_us
            durable.lives[epoch] = durable.lives.get(epoch, Span(at_us, at_us))._replace(to_us=at_us)
            for (where, life, number, _), spans in catalog.members.items():
                if (where, life, number) == (router, epoch, event["durable"]):
                    spans[-1] = spans[-1]._replace(to_us=min(spans[-1].to_us, at_us))
        case "attached":
            place = router, epoch, event["durable"], event["connection"]
            catalog.members.setdefault(place, []).append(Span(at_us, life_end_us))
        case "detached":
            spans = catalog.members.setdefault((router, epoch, event["durable"], event["connection"]), [])
            if spans:
                spans[-1] = spans[-1]._replace(to_us=at_us)


def _take_policy(durable: KnownDurable, event: Row, forms: Mapping[str, int]) -> None:
    durable.name = event["name"] or ""
    durable.policy = dict(event["terms"] or {})
    durable.overflow = event["overflow"] or ""
    durable.order_by, durable.latest_by = event["order_by"] or "", event["latest_by"] or ""
    durable.dead_letter = event["dead_letter"] or ""
    said = (with_program(form, event["residual"]) for form in event["filters"] or ())
    durable.filters = frozenset(forms[form] for form in said if form in forms)
    durable.has_unknowns |= bool(event["doubts"])


def vanished(catalog: DurableCatalog) -> Iterator[tuple[str, int, int]]:
    """Yield (router, durable, when) of durable subscriptions that existed at the end of a life and not in the next,
    without a record of their removal."""
    for (router, number), durable in sorted(catalog.durables.items()):
        for epoch, span in durable.lives.items():
            following = [each for each in catalog.later_lives(router, epoch) if each > epoch][:1]
            life = catalog.lives.get((router, epoch))
            if not following or life is None or following[0] in durable.lives or durable.forgotten_us is not None:
                continue
            after = catalog.lives[router, following[0]]
            is_unsure = catalog.may_be_undone(router, epoch, span.from_us)
            dark_end_us = min(after.last_us, after.first_us + catalog.settle_us)
            is_brief = after.is_broken and after.last_us - after.first_us < catalog.settle_us
            if not is_unsure and not is_brief and not catalog.has_hole(router, after.first_us, dark_end_us):
                yield router, number, after.first_us
