"""Chart 1 of paper 002: the publish rate at which some broker is overloaded, link matching beside flooding.

    link matching           each broker on the way matches as far as its links and clients need (chart 2's tree)
    flooding, to clients    every broker sends an event to every client, which filters; nobody matches
    flooding, to brokers    every broker matches for its own clients, and sends to those who want the event

What an event costs a broker are the paper's items: taking it in, steps of matching, sending each copy. The served
simulator lets events come at random and finds where a queue grows without end.

Law: the ways of an event are computed by link matching, and by matching at each broker alone; whom it reaches must be
the same, and its frames those of real routers on the same network. The saturation that queues find must be the bound
that the counted work of the busiest broker sets; otherwise the run ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tamis.bench.networks.strategies.control import Budget, Network, layout
from tamis.bench.networks.strategies.fleet import Fleet
from tamis.bench.networks.strategies.wants import Wants
from tamis.papers.models.pst_network import Annotation, BitTree
from tamis.papers.reproduce.figure import (
    Criterion,
    Disagreement,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, is_falling, listed, number, points, read, ruled
from tamis.papers.reproduce.paper002.network import (
    ATTRIBUTES,
    CLIENTS,
    Brokers,
    GryphonInterest,
    GryphonSpace,
    Positions,
    brokers,
    event,
    wishes,
)
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.strategies import BY_NAME
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.simulate.nodes.served import Visit, bound_per_s, saturation_per_s

SPACE: Final = GryphonSpace(values=5, decay=0.85, factored=2)
LINK_MATCHING: Final = "link matching"
SEEING: Final = "link matching, annotations read before a visit"
"""It visits no child that is No for all that is asked, which the text leaves open."""
TO_CLIENTS: Final = "flooding, to clients"
TO_BROKERS: Final = "flooding, to brokers"
_BOTH: Final = (TO_CLIENTS, TO_BROKERS)
TICK_US: Final = 12.0
STRATEGIES: Final = {LINK_MATCHING: ("link-matching", "pst"), TO_BROKERS: ("flood-everywhere", "pst")}
"""Strategies of real routers, and their engine; none sends a message to a client that does not want it."""
_AGREES: Final = 0.12
"""How far a saturation may lie from the bound of counted work: it is found to within 5 %, by random arrivals."""
_BUDGET_S: Final = 900.0


@dataclass(frozen=True, slots=True)
class TickCosts:
    """What a broker pays, in ticks of 12 us: 14,000 deliveries a second, as the paper's prototype, are six each."""

    name: str
    receive: float = 2.0
    step: float = 0.25
    send: float = 4.0


USUAL: Final = TickCosts("as chosen")
OTHERS: Final = (
    TickCosts("send x 2", send=8.0),
    TickCosts("send / 2", send=2.0),
    TickCosts("step x 2", step=0.5),
    TickCosts("step / 2", step=0.125),
)


@dataclass(frozen=True, slots=True)
class BrokerWork:
    """What one broker does with one event, before it is weighed."""

    steps: int
    clients: int
    onward: tuple[tuple[str, BrokerWork], ...]

    def visit(self, names: dict[str, int], at: str, network: Brokers, costs: TickCosts) -> Visit:
        copies = len(self.onward) + self.clients
        service_us = TICK_US * (costs.receive + costs.step * self.steps + costs.send * copies)
        onward = tuple(
            (each.visit(names, child, network, costs), 1_000.0 * network.costs[at, child])
            for child, each in self.onward
        )
        return Visit(names[at], service_us, onward)

    def frames(self) -> int:
        """Copies over links between brokers."""
        return sum(1 + each.frames() for _, each in self.onward)


class Loading:
    """The network with its subscriptions, and what each event makes its brokers do."""

    def __init__(self, count: int, seed: int) -> None:
        self.network = brokers(None)
        self.wishes = wishes(self.network, SPACE, count, seed)
        self._positions = Positions(self.network, each_client=True)
        held = ((wish.wanted, self._positions.of(wish)) for wish in self.wishes)
        self._tree = BitTree(ATTRIBUTES, SPACE.values, SPACE.factored, held)
        of_home: defaultdict[str, list[GryphonInterest]] = defaultdict(list)
        for wish in self.wishes:
            of_home[wish.home].append(wish)
        self._own = {
            name: BitTree(
                ATTRIBUTES,
                SPACE.values,
                SPACE.factored,
                ((wish.wanted, 1 << wish.client) for wish in of_home[name]),
            )
            for name in self.network.names
        }
        self._masks = {
            (root, name): self._positions.mask(root, name) for root in self.network.trees for name in self.network.names
        }
        self._locals = {name: self._positions.local(name) for name in self.network.names}

    def works(self, publisher: str, values: tuple[int, ...]) -> dict[str, BrokerWork]:
        """What each protocol makes the brokers do; Disagreement if two of them reach other clients."""
        reached: dict[str, int] = {}
        seen: dict[str, int] = {}
        own = {name: self._own[name].match(values) for name in self.network.names}
        found = {
            LINK_MATCHING: self._matched((publisher, publisher), values, reached, Annotation.AT_THE_CHILD),
            SEEING: self._matched((publisher, publisher), values, seen, Annotation.AT_THE_PARENT),
            TO_CLIENTS: self._flooded(publisher, publisher, dict.fromkeys(self.network.names, (CLIENTS, 0))),
            TO_BROKERS: self._flooded(
                publisher, publisher, {name: (bits.bit_count(), steps) for name, (bits, steps) in own.items()}
            ),
        }
        if seen != reached or reached != {name: bits.bit_count() for name, (bits, _) in own.items() if bits}:
            raise Disagreement("link matching reaches other clients than matching at each broker alone")
        return found

    def _matched(
        self, way: tuple[str, str], values: tuple[int, ...], reached: dict[str, int], annotation: Annotation
    ) -> BrokerWork:
        """`way`: the root of the tree, and the broker of it where the event is."""
        root, at = way
        yes, steps = self._tree.match_links(values, self._masks[root, at], annotation)
        clients = (yes & self._locals[at]).bit_count()
        if clients:
            reached[at] = clients
        onward = tuple(
            (child, self._matched((root, child), values, reached, annotation))
            for child in self.network.trees[root].children[at]
            if yes & self._positions.link(root, child)
        )
        return BrokerWork(steps, clients, onward)

    def _flooded(self, root: str, at: str, clients: dict[str, tuple[int, int]]) -> BrokerWork:
        """`clients`: of each broker how many get the event, and after how many steps."""
        onward = tuple((child, self._flooded(root, child, clients)) for child in self.network.trees[root].children[at])
        return BrokerWork(clients[at][1], clients[at][0], onward)


# --- what is measured ------------------------------------------------------------------------------------------------


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for count in run.numbers("subscriptions"):
        rows += run.cell(f"chart 1, {count} subscriptions", lambda count=count: _one(run, count))  # type: ignore[misc]
    rows += run.cell("chart 1, frames of routers", lambda: _frames(run, min(run.numbers("subscriptions"))))
    return rows


def _one(run: FigureRun, count: int) -> list[ResultRow]:
    loading = Loading(count, run.seed)
    names = {name: place for place, name in enumerate(loading.network.names)}
    works = works_of(run, loading)
    rows: list[ResultRow] = []
    for protocol in (LINK_MATCHING, SEEING, *_BOTH):
        for costs in (USUAL, *OTHERS):
            run.say(f"chart 1, {count} subscriptions: {protocol}, {costs.name}")
            journeys = [each[protocol].visit(names, at, loading.network, costs) for at, each in works]
            bound = bound_per_s(journeys)
            rows.append(
                {
                    "F": count,
                    "protocol": protocol,
                    "costs": costs.name,
                    "bound_per_s": bound,
                    "saturation_per_s": _saturation(run, journeys, bound)
                    if costs is USUAL and protocol != SEEING
                    else None,
                    "brokers": sum(len(journey.all()) for journey in journeys) / len(journeys),
                    "steps": sum(_steps(each[protocol]) for _, each in works) / len(works),
                    "clients": sum(_clients(each[LINK_MATCHING]) for _, each in works) / len(works),
                }
            )
    return rows


def works_of(run: FigureRun, loading: Loading) -> list[tuple[str, dict[str, BrokerWork]]]:
    """The publisher of each event, and what each protocol makes the brokers do with it."""
    drawn = [event(SPACE, place, run.seed, loading.network.names) for place in range(run.whole("events"))]
    return [(publisher, loading.works(publisher, values)) for publisher, values in drawn]


def _saturation(run: FigureRun, journeys: Sequence[Visit], bound: float) -> float:
    visits = sum(len(journey.all()) for journey in journeys) / len(journeys)
    found = saturation_per_s(journeys, run.whole("visits") / visits / bound, run.seed)
    if abs(found / bound - 1) > _AGREES:
        raise Disagreement(f"queues are overloaded at {found:.0f} events/s, by their work at {bound:.0f}")
    return found


def _steps(work: BrokerWork) -> int:
    return work.steps + sum(_steps(each) for _, each in work.onward)


def _clients(work: BrokerWork) -> int:
    return work.clients + sum(_clients(each) for _, each in work.onward)


def _frames(run: FigureRun, count: int) -> list[ResultRow]:
    """Frames of real routers on this network, which must be those of the ways above."""
    loading = Loading(count, run.seed)
    names = loading.network.names
    drawn = [event(SPACE, place, run.seed, names) for place in range(run.whole("fleet_events"))]
    works = [loading.works(publisher, values) for publisher, values in drawn]
    filters: dict[str, list[bytes]] = {name: [] for name in names}
    for wish in loading.wishes:
        constraints = (Constraint(f"a{k}", Op.EQ, (value,)) for k, value in sorted(wish.wanted.items()))
        filters[wish.home].append(encode_filter(Filter(tuple(constraints))))
    events = [{f"a{k}": value for k, value in enumerate(values)} for _, values in drawn]
    wants = Wants([filters[name] for name in names], [], [], list(map(dict, events)))
    return [_of_routers(protocol, wants, [each[protocol].frames() for each in works]) for protocol in STRATEGIES]


def _of_routers(protocol: str, wants: Wants, frames: Sequence[int]) -> ResultRow:
    strategy, engine = STRATEGIES[protocol]
    budget = Budget(_BUDGET_S)
    with budget:
        network = Network(layout("wan39"), strategy, budget)
        network.come_up()
        network.subscribe(wants)
        fleet = Fleet(network.nodes, wants, BY_NAME[strategy], engine, budget)
    if fleet.first.frames != sum(frames):
        raise Disagreement(f"{protocol}: routers sent {fleet.first.frames} frames, the ways have {sum(frames)}")
    return {"protocol": protocol, "events": len(frames), "frames": sum(frames) / len(frames)}


# --- what the paper claims -------------------------------------------------------------------------------------------


def _line(rows: ResultRows, protocol: str, what: str, costs: str = USUAL.name) -> list[float]:
    own = [row for row in chosen(rows, protocol=protocol, costs=costs) if row.get(what) is not None]
    return [value for _, value in points(own, "F", what)]


def _ratios(
    rows: ResultRows,
    flooding: str,
    what: str = "saturation_per_s",
    costs: str = USUAL.name,
    matching: str = LINK_MATCHING,
) -> list[float]:
    lines = (_line(rows, each, what, costs) for each in (matching, flooding))
    return [matched / flooded for matched, flooded in zip(*lines, strict=True)]


def _floods_saturate_first(rows: ResultRows) -> Judgement:
    told = "; ".join(
        f"{protocol} {listed(_line(rows, protocol, 'saturation_per_s'), 0)}" for protocol in (LINK_MATCHING, *_BOTH)
    )
    ratios = {each: _ratios(rows, each) for each in _BOTH}
    ours = f"{told} events/s; link matching takes {' and '.join(listed(each, 1) for each in ratios.values())} times"
    holds = all(ratio > 1 for ratio in ratios[TO_CLIENTS])
    brokers_alone = min(ratios[TO_BROKERS])
    why = f"flooding to clients takes more; where brokers filter for them the least ratio is {brokers_alone:.2f}"
    return ruled(holds, ours, why)


def _less_where_widely(rows: ResultRows) -> Judgement:
    ratios, brokers_visited = _ratios(rows, TO_CLIENTS), _line(rows, LINK_MATCHING, "brokers")
    ours = (
        f"{listed(ratios, 1)} times the rate of flooding, where link matching visits {listed(brokers_visited, 1)} of 39"
    )
    return ruled(is_falling(ratios) and ratios[-1] < ratios[0], ours, "the difference does not fall with the spread")


def _whatever_the_costs(rows: ResultRows) -> Judgement:
    found = {costs.name: _ratios(rows, TO_CLIENTS, "bound_per_s", costs.name) for costs in OTHERS}
    ours = "; ".join(f"{name}: {listed(ratios, 1)} times" for name, ratios in found.items())
    return ruled(all(min(ratios) > 1 for ratios in found.values()), ours, "it depends on the costs that we chose")


def _even_at_brokers(rows: ResultRows) -> Judgement:
    return read(
        Reading("annotations read in a visit", _at_brokers(rows, LINK_MATCHING)),
        Reading("annotations read before a visit", _at_brokers(rows, SEEING), is_suggested=True),
    )


def _at_brokers(rows: ResultRows, matching: str) -> Judgement:
    ratios = _ratios(rows, TO_BROKERS, "bound_per_s", matching=matching)
    ours = f"{listed(ratios)} times the rate of flooding that brokers filter for their clients, by counted work"
    return ruled(
        min(ratios) > 1,
        ours,
        "the busiest broker then spares little: with many subscriptions an event comes to nearly every broker in its "
        "region, and refining the trits of links takes more steps than matching for ten clients",
    )


def _selectivity(rows: ResultRows) -> Judgement:
    row = chosen(rows, protocol=LINK_MATCHING, costs=USUAL.name)[-1]
    clients = number(row, "clients")
    ours = f"with {number(row, 'F'):,.0f} subscriptions an event goes to {clients:.1f} of 390 clients"
    return ruled(clients < 39, ours, "events go widely")


def _frames_agree(rows: ResultRows) -> Judgement:
    found = [row for row in rows if row.get("frames") is not None]
    told = ", ".join(f"{row['protocol']} {number(row, 'frames'):.2f}" for row in found)
    return ruled(len(found) == len(STRATEGIES), f"{told} frames an event, by 39 routers and by the ways", "not run")


CHART_1: Final = PaperFigure(
    paper="002",
    id="chart-1",
    title="Chart 1: the rate at which the network is overloaded",
    shows="the publish rate at which some broker's queue grows without end, over the number of subscriptions: flooding "
    "is overloaded at much lower rates than link matching, less so where events go widely.",
    chosen="a publisher at each broker; events by Poisson; Zipf with exponent 1; regions differ by a turn of the "
    "values. An event costs two ticks of 12 us to take in, a quarter for each step, four for each copy: 14,000 "
    "deliveries a second. The text does not say who filters what was flooded, nor whether a child whose annotation is "
    "No is visited; all is run.",
    settings={
        Scale.SMALL: {"subscriptions": (500, 2_000, 5_000), "events": 156, "visits": 80_000, "fleet_events": 78},
        Scale.PAPER: {
            "subscriptions": (500, 1_000, 2_000, 4_000, 7_000, 10_000),
            "events": 507,
            "visits": 500_000,
            "fleet_events": 507,
        },
    },
    measure=_measure,
    criteria=(
        Criterion(
            "002-chart-1",
            "Flooding overloads the network at lower rates than link matching",
            "at significantly lower rates, for any number of subscriptions",
            _floods_saturate_first,
        ),
        Criterion("002-1-widely", "The difference is less where events go widely", "not as great", _less_where_widely),
        Criterion("002-1-costs", "So it is with other costs", "ours, not the paper's", _whatever_the_costs),
        Criterion(
            "002-1-brokers",
            "So it is where brokers filter for their clients what was flooded",
            "the text does not say who filters",
            _even_at_brokers,
        ),
        Criterion(
            "002-1-selective", "An event goes to a small part of the clients", "0.1 % of subscriptions", _selectivity
        ),
        Criterion("002-1-frames", "Real routers send these frames", "ours, not the paper's", _frames_agree),
    ),
    plots=(
        PlotSpec(
            *(
                "Where some broker is overloaded",
                "F",
                "saturation_per_s",
                "protocol",
                "number of subscriptions",
                "events per second",
            ),
            where={"costs": USUAL.name},
            log_y=True,
        ),
        PlotSpec(
            *("Brokers that an event comes to", "F", "brokers", "protocol"),
            *("number of subscriptions", "brokers per event"),
            where={"costs": USUAL.name},
        ),
    ),
    seconds={Scale.SMALL: 15, Scale.PAPER: 200},
    is_exact=True,
)
