"""Single points of figures over TCP: daemons as processes of their own, and clients that publish and subscribe.

Law: what daemons deliver is what the oracle says, and the messages that they send each other are counted by themselves
(`/status`). Nothing is timed: the point is that the frames of a network that anybody can start are those of the fleet.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import tamis
from tamis import testing
from tamis.bench.networks.strategies.control import forest_of, layout, trees_of
from tamis.bench.networks.strategies.model import copies
from tamis.bench.networks.strategies.wants import Wants, make_wants
from tamis.papers.reproduce.emulated import emulated
from tamis.papers.reproduce.figure import (
    Criterion,
    Disagreement,
    FigureRun,
    Judgement,
    PaperFigure,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import ruled
from tamis.protocol.filters import Predicate
from tamis.protocol.language.format import format_predicate
from tamis.protocol.strategies import BY_NAME
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.core.routing.roots import RootChoice
from tamis.simulate.faults.topologies import NetworkPlan

RING_SUBSCRIPTIONS: Final = 200
RING_COVERED_PERCENT: Final = 50
RING_EVENTS: Final = 60
_PATIENCE_S: Final = 120.0
_KEEPALIVE: Final = {"hold_ms": 20_000}
"""On a busy machine a daemon may stand still for longer than neighbours wait as a rule."""
_QUIET_S: Final = 0.5
"""After the last message that is due: so long nothing more may come."""


@dataclass(frozen=True, slots=True)
class LivePoint:
    """What is run by daemons, by the fleet and by a model. `classes` None: as `emulated` has it; the last one is that
    of all other messages."""

    name: str
    plan: NetworkPlan
    strategy: str
    engine: str
    wants: Wants
    classes: tuple[RootChoice, ...] | None = None


@dataclass(frozen=True, slots=True)
class LiveFrames:
    """What daemons counted: messages over links, and those that clients got."""

    frames: int
    delivered: int


def measured(point: LivePoint) -> LiveFrames:
    """Start a daemon for each router, let clients subscribe and publish all events once, and end the daemons."""
    with tempfile.TemporaryDirectory(prefix="tamis-live-") as folder:
        return asyncio.run(_measured(Path(folder), point))


async def _measured(folder: Path, point: LivePoint) -> LiveFrames:
    plan, wants = point.plan, point.wants
    links = tuple((plan.names[a], plan.names[b], cost) for a, b, cost in plan.links)
    async with asyncio.timeout(_PATIENCE_S), contextlib.AsyncExitStack() as stack:
        network = await stack.enter_async_context(
            testing.running(folder, testing.NetworkPlan(plan.names, links, keepalive=_KEEPALIVE, keys=_keys(point)))
        )
        await network.until_linked()
        clients = [
            await stack.enter_async_context(tamis.connect(network[name].address, name=f"at-{name}"))
            for name in plan.names
        ]
        subscriptions = [
            await stack.enter_async_context(_subscribed(client, filters))
            for client, filters in zip(clients, wants.filters, strict=True)
        ]
        await network.until_at_rest(_QUIET_S, _PATIENCE_S)
        before = await _carried(network)
        taking = [asyncio.ensure_future(_taken(each, _due(wants, at))) for at, each in enumerate(subscriptions)]
        publishers = [
            await stack.enter_async_context(tamis.connect(network[name].address, name=f"press-{name}"))
            for name in plan.names
        ]
        for at, client in enumerate(publishers):
            await client.publish_many([dict(event) for event in wants.events[at :: len(publishers)]], confirm=True)
        delivered = sum(await asyncio.gather(*taking))
        await asyncio.sleep(_QUIET_S)
        after = await _carried(network)
        if after.sessions != before.sessions:
            raise testing.NotLinked("links ended while events passed, so that frames went by two sets of trees")
        return LiveFrames(after.frames - before.frames, delivered)


def _keys(point: LivePoint) -> dict[str, object]:
    """What the topology file says of the strategy, with the roots of classes."""
    facts = BY_NAME[point.strategy]
    strategy: dict[str, object] = {"name": facts.key, **facts.options}
    if facts.has_roots and point.classes:
        names = {stable_number(name): name for name in point.plan.names}
        *classes, rest = point.classes
        strategy["others"] = [names[number] for number in rest.listed]
        strategy["classes"] = {each.name: format_predicate(_predicate(each.filters)) for each in classes}
        strategy["roots"] = {each.name: [names[number] for number in each.listed] for each in classes}
    layer = {} if facts.layer is not None else {"broadcast": point.plan.broadcast}
    return {"strategy": strategy, "engine": point.engine, **layer}


def _predicate(packed: Sequence[bytes]) -> Predicate:
    return Predicate(tuple(map(decode_filter, packed)))


def _subscribed(client: tamis.Client, filters: Sequence[bytes]) -> tamis.Subscription:
    return client.subscribe(*(_predicate([packed]) for packed in filters), wait="network")


def _due(wants: Wants, at: int) -> int:
    return sum(at in homes for homes in wants.wanting)


async def _taken(subscription: tamis.Subscription, count: int) -> int:
    """Take `count` messages; Disagreement if something else comes, or one more."""
    for _ in range(count):
        item = await anext(subscription)
        if not isinstance(item, tamis.Message):
            raise Disagreement(f"a daemon reports {item} in place of a message")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_QUIET_S):
            raise Disagreement(f"a daemon delivers more than is due: {await anext(subscription)}")
    return count


@dataclass(frozen=True, slots=True)
class _Carried:
    """What links of all daemons have carried: messages that were queued for a neighbour, and how many sessions."""

    frames: int
    sessions: int


async def _carried(network: testing.RouterNetwork) -> _Carried:
    status = await network.status()
    if len(status) < len(network.routers):
        raise testing.NotLinked(f"of {len(network.routers)} daemons {len(status)} answer")
    links = [link for each in status.values() for link in each["network"]["links"]]
    return _Carried(sum(link["messages_out"] for link in links), sum(link["sessions"] for link in links))


def compared(point: LivePoint, model: int | None = None) -> ResultRow:
    """Frames of daemons, of the fleet and of the model (None: `copies`, which knows trees and who wants what); and
    Disagreement if these are not one number."""
    strategy, plan, wants = point.strategy, point.plan, point.wants
    fleet, nodes = emulated(plan, strategy, point.engine, wants, point.classes)
    if model is None:
        trees, forests = [trees_of(node) for node in nodes], [forest_of(node) for node in nodes]
        model = copies(trees, forests, wants, BY_NAME[strategy])
    found = measured(point)
    due = sum(map(len, wants.wanting))
    row: ResultRow = {
        "point": point.name,
        "strategy": strategy,
        "routers": len(plan.names),
        "events": len(wants.events),
        "daemons": found.frames,
        "fleet": fleet.first.frames,
        "model": model,
        "delivered": found.delivered,
        "due": due,
    }
    if not (found.frames == fleet.first.frames == model and found.delivered == due):
        raise Disagreement(f"daemons, fleet and model differ: {dict(row)}")
    return row


def compared_on_ring(run: FigureRun, engines: Mapping[str, str]) -> list[ResultRow]:
    """Compare daemons, fleet and model in a ring of five routers, by each strategy of `engines` with its engine."""
    plan = layout("ring5")
    wants = make_wants(len(plan.names), RING_SUBSCRIPTIONS, RING_COVERED_PERCENT, RING_EVENTS)
    points = {name: LivePoint("five routers in a ring", plan, name, engine, wants) for name, engine in engines.items()}
    return [run.cell(f"live ring5 {name}", partial(compared, point)) for name, point in points.items()]


def live_figure(paper: str, shows: str, measure: Callable[[FigureRun], list[ResultRow]], seconds: float) -> PaperFigure:
    """The figure of one paper that starts daemons; it is run where that is asked for."""

    def judge(rows: ResultRows) -> Judgement:
        told = ", ".join(f"{row['strategy']} {row['daemons']} for {row['events']}" for row in rows)
        return ruled(bool(rows), f"frames for events, of daemons, fleet and model alike: {told}", "nothing was run")

    return PaperFigure(
        paper=paper,
        id="live",
        title="Frames of daemons over TCP",
        shows=shows,
        chosen="routers as processes, a subscriber and a publisher at each; messages over links as daemons count them.",
        settings={scale: {} for scale in Scale},
        measure=measure,
        criteria=(
            Criterion(
                f"{paper}-live",
                "Daemons over TCP send the frames of the fleet and of the model, and deliver what is due",
                "ours, not the paper's",
                judge,
            ),
        ),
        seconds={Scale.SMALL: seconds, Scale.PAPER: seconds},
        needs_daemons=True,
    )
