"""Chart 2 of paper 002: matching steps, summed along the way, against those of one central broker.

    trits         one for each client of a broker, as the text has it, or one for all of them
    annotation    looked at as a child is visited, or before, so that a child that is No for all is no step

Law: the tree of the paper and the engine `pst` see the same subscriptions and events; whom an event reaches is computed
three times (the central tree, link matching hop by hop, and each subscription alone for some), and must be the same,
however trits and annotations are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

from tamis.native import InterfaceKind, Table
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
from tamis.papers.reproduce.judging import Judge, chosen, listed, number, points, read, ruled
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

SPACE: Final = GryphonSpace(values=3, decay=0.82, factored=3)
CENTRAL: Final = "centralized"
EACH: Final = "a trit for each client"
TOGETHER: Final = "one trit for all clients"
_OF_ENGINE: Final = "that of the engine"
ENGINE: Final = {0: "engine pst", SPACE.factored: f"engine pst, factor {SPACE.factored}"}
"""The engine's lines by its option `factor`: the attributes that its index jumps over, as the paper's tree does."""
_HOPS: Final = range(1, 7)
_DRAWS: Final = 0.05
"""A share by which other draws move the steps: those of four hops are 0.93 to 1.04 of the centre's for five seeds, at
2,000 subscriptions and with annotations read before a visit."""
_CHECKED: Final = 3
"""Events of which every subscription is looked at alone."""


def _measure(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for count in run.numbers("subscriptions"):
        rows += run.cell(f"chart 2, {count} subscriptions", lambda count=count: _one(run, count))  # type: ignore[misc]
    return rows


def _one(run: FigureRun, count: int) -> list[ResultRow]:
    network = brokers()
    drawn = wishes(network, SPACE, count, run.seed)
    routers: list[PaperBrokers | EngineBrokers] = [PaperBrokers(network, drawn, each) for each in (True, False)]
    routers += [EngineBrokers(network, drawn, factor) for factor in ENGINE]
    steps: Steps = defaultdict(list)
    reached = 0
    for place in range(run.whole("events")):
        publisher, values = event(SPACE, place, run.seed)
        clients, homes, *by_engine = (each.publish(publisher, values, steps) for each in routers)
        agree = all(clients == each for each in by_engine)
        agree &= {home for home, _ in clients} == {home for home, _ in homes}
        if place < _CHECKED:
            agree &= clients == {(wish.home, wish.client) for wish in drawn if _wants(wish, values)}
        if not agree:
            raise Disagreement(f"event {place} of {count} subscriptions reaches other clients by other ways to match")
        reached += sum(1 for wish in drawn if _wants(wish, values))
    share = reached / run.whole("events") / count
    return [
        {
            "F": count,
            "by": by,
            "annotation": annotation,
            "line": line,
            "steps": sum(taken) / len(taken),
            "ways": len(taken),
            "selectivity": share,
        }
        for (by, annotation, line), taken in sorted(steps.items())
    ]


def _wants(wish: GryphonInterest, values: tuple[int, ...]) -> bool:
    return all(values[k] == value for k, value in wish.wanted.items())


Steps = dict[tuple[str, str, str], list[int]]
"""By the kind of routers, where annotations are looked at, and the line of the chart."""
Reached = frozenset[tuple[str, int]]


class PaperBrokers:
    """The paper's tree, with trits for each broker: one for each of its clients, or one for all of them."""

    def __init__(self, network: Brokers, drawn: list[GryphonInterest], each_client: bool) -> None:
        self.name = EACH if each_client else TOGETHER
        self._network, self._positions = network, Positions(network, each_client)
        held = ((wish.wanted, self._positions.of(wish)) for wish in drawn)
        self._tree = BitTree(ATTRIBUTES, SPACE.values, SPACE.factored, held)

    def publish(self, publisher: str, values: tuple[int, ...], steps: Steps) -> Reached:
        """Whom an event reaches; adds the steps to it to `steps`."""
        central, taken = self._tree.match(values)
        reached = set()
        for annotation in Annotation:
            steps[self.name, annotation.value, CENTRAL].append(taken)
            reached.add(self._linked(publisher, values, annotation, steps))
        if reached != {central & self._positions.clients}:
            raise Disagreement("link matching reaches other clients than centralized matching")
        names, own = self._network.names, self._positions.clients_of_one
        (found,) = reached
        return frozenset((names[place // own], place % own) for place in range(len(names) * own) if found >> place & 1)

    def _linked(self, publisher: str, values: tuple[int, ...], annotation: Annotation, steps: Steps) -> int:
        """The positions of the clients that an event reaches, hop by hop."""
        positions = self._positions
        reached, waiting = 0, [(publisher, 0, 0)]
        while waiting:
            broker, before, hops = waiting.pop()
            yes, taken = self._tree.match_links(values, positions.mask(publisher, broker), annotation)
            local = yes & positions.local(broker)
            reached |= local
            steps[self.name, annotation.value, f"LM {hops + 1}"] += [before + taken] * local.bit_count()
            waiting += [
                (child, before + taken, hops + 1)
                for child in self._network.trees[publisher].children[broker]
                if yes & positions.link(publisher, child)
            ]
        return reached


class EngineBrokers:
    """The engine `pst`: one table, and a view for each broker and tree, in which what is not below it has no group."""

    def __init__(self, network: Brokers, drawn: list[GryphonInterest], factor: int) -> None:
        self.name = ENGINE[factor]
        self._network = network
        domains = [Constraint(f"a{k}", Op.IN, tuple(range(SPACE.values))) for k in range(ATTRIBUTES)]
        spaces = [Filter(tuple(domains))] if factor else []
        self._table = Table(f"pst:factor={factor}", hash_seed=1, spaces=spaces)
        self._place = {name: place for place, name in enumerate(network.names)}
        for interface in range(len(network.names) * CLIENTS):
            self._table.set_interface(interface, InterfaceKind.CLIENT)
        for wish in drawn:
            constraints = [Constraint(f"a{k}", Op.EQ, (value,)) for k, value in sorted(wish.wanted.items())]
            self._table.add(Filter(tuple(constraints)), self._place[wish.home] * CLIENTS + wish.client)
        self._views = {
            (root, broker): self._table.view(self._groups(root, broker))
            for root in network.trees
            for broker in network.names
        }

    def _groups(self, root: str, broker: str) -> list[int | None]:
        """Of each client its place among the broker's own clients, or behind them the child below which it is."""
        children = self._network.trees[root].children[broker]
        groups: list[int | None] = [None] * (len(self._network.names) * CLIENTS)
        for name, place in self._place.items():
            way = self._network.trees[root].way(name)
            for client in range(CLIENTS):
                if name == broker:
                    groups[place * CLIENTS + client] = client
                elif broker in way:
                    groups[place * CLIENTS + client] = CLIENTS + children.index(way[way.index(broker) + 1])
        return groups

    def publish(self, publisher: str, values: tuple[int, ...], steps: Steps) -> Reached:
        """Whom an event reaches; adds the steps to it to `steps`."""
        message = {f"a{k}": value for k, value in enumerate(values)}
        before = self._table.stats().steps
        self._table.match_all(message)
        steps[self.name, _OF_ENGINE, CENTRAL].append(self._table.stats().steps - before)
        reached: set[tuple[str, int]] = set()
        waiting = [(publisher, 0, 0)]
        while waiting:
            broker, taken, hops = waiting.pop()
            before = self._table.stats().steps
            groups = self._table.match(message, grouping=self._views[publisher, broker])
            taken += self._table.stats().steps - before
            local = [group for group in groups if group < CLIENTS]
            reached |= {(broker, client) for client in local}
            steps[self.name, _OF_ENGINE, f"LM {hops + 1}"] += [taken] * len(local)
            children = self._network.trees[publisher].children[broker]
            waiting += [(children[group - CLIENTS], taken, hops + 1) for group in groups if group >= CLIENTS]
        return frozenset(reached)


# --- what the paper claims -------------------------------------------------------------------------------------------


class StepReading(NamedTuple):
    """How the trits of clients, and a visit, are read."""

    by: str
    annotation: Annotation

    def __str__(self) -> str:
        return f"{self.by}, annotations read {self.annotation.value}"


READINGS: Final = tuple(StepReading(by, annotation) for annotation in Annotation for by in (EACH, TOGETHER))
SUGGESTED: Final = StepReading(EACH, Annotation.AT_THE_PARENT)
"""The text says that clients are links; with this reading chart 2 has all that is said of it."""


def _line(rows: ResultRows, line: str, read_as: StepReading) -> list[tuple[float, float]]:
    return points(chosen(rows, by=read_as.by, annotation=read_as.annotation.value, line=line), "F", "steps")


def _in_all_readings(judge: Callable[[ResultRows, StepReading], Judgement]) -> Judge:
    def judged(rows: ResultRows) -> Judgement:
        return read(*(Reading(str(each), judge(rows, each), each == SUGGESTED) for each in READINGS))

    return judged


def _up_to_four_hops(rows: ResultRows, read_as: StepReading) -> Judgement:
    central = dict(_line(rows, CENTRAL, read_as))
    four = {count: steps for count, steps in _line(rows, "LM 4", read_as) if count >= 2_000}
    sizes = ", ".join(f"{count:,.0f}" for count in four)
    centre = listed([central[count] for count in four], 0)
    ours = f"{listed(list(four.values()), 0)} steps, centralized {centre}, for F = {sizes}"
    why = "a broker visits children that are No for all of its clients and links, which the text leaves open"
    return ruled(all(steps <= (1 + _DRAWS) * central[count] for count, steps in four.items()), ours, why)


def _more_beyond(rows: ResultRows, read_as: StepReading) -> Judgement:
    central = dict(_line(rows, CENTRAL, read_as))
    over = {
        hops: [f"{count:,.0f}" for count, steps in _line(rows, f"LM {hops}", read_as) if steps > central[count]]
        for hops in (5, 6)
    }
    told = "; ".join(f"LM {hops} at F = {', '.join(counts)}" for hops, counts in over.items() if counts)
    first = _line(rows, "LM 6", read_as)[0]
    ours = (
        f"at F = {first[0]:,.0f} six hops take {first[1]:.0f}, centralized {central[first[0]]:.0f}; "
        f"more at: {told or 'none'}"
    )
    return ruled(any(over.values()), ours, "link matching takes fewer steps at any number of hops")


def _central_overtakes(rows: ResultRows, read_as: StepReading) -> Judgement:
    central, linked = (_slope_at_the_end(rows, line, read_as) for line in (CENTRAL, "LM 6"))
    ours = f"steps for 1,000 subscriptions at the upper end: centralized {central:.2f}, LM 6 {linked:.2f}"
    return ruled(linked < central, ours, "steps for clients grow like those of the centre, up to these numbers")


def _slope_at_the_end(rows: ResultRows, line: str, read_as: StepReading) -> float:
    (x0, y0), (x1, y1) = _line(rows, line, read_as)[-2:]
    return 1_000 * (y1 - y0) / (x1 - x0)


def _selectivity(rows: ResultRows) -> Judgement:
    share = number(rows[0], "selectivity")
    return ruled(
        0.010 <= share <= 0.016,
        f"{share:.2%} of the subscriptions",
        "the stated probabilities cannot give it: with values that are independent and evenly drawn 1.6 % match, "
        "by Zipf "
        "and with likes of the region more. 1.3 % needs events that prefer what subscribers do not",
    )


_AS_ENGINES_DO: Final = StepReading(EACH, Annotation.AT_THE_CHILD)


def _engine(rows: ResultRows) -> Judgement:
    return read(*(Reading(name, _beside_the_tree(rows, name), factor > 0) for factor, name in ENGINE.items()))


def _beside_the_tree(rows: ResultRows, engine: str) -> Judgement:
    ratios = [
        number(row, "steps") / dict(_line(rows, str(row["line"]), _AS_ENGINES_DO))[number(row, "F")]
        for row in chosen(rows, by=engine)
    ]
    ours = f"{min(ratios):.2f} to {max(ratios):.2f} times the steps of the paper's tree"
    return ruled(
        max(ratios) <= 1.05,
        ours,
        "Without factoring, levels that the paper's index jumps over are steps. With it the engine still counts what "
        "the paper does not: each attribute of an event, and each filter found. It finds the same clients",
    )


CHART_2: Final = PaperFigure(
    paper="002",
    id="chart-2",
    title="Chart 2: matching steps along the way",
    shows="steps (visits of nodes) of an event, summed over the brokers on its way, for one to six of them, beside "
    "centralized matching. Up to four hops link matching takes no more; beyond, more; the slopes say that centralized "
    "matching takes more for really large numbers of subscribers.",
    chosen="Zipf with exponent 1; regions differ by a turn of the values; publishers are leaves of the three regions; "
    "links count as the paper's virtual ones, apart for each tree. The text leaves open whether all clients of a "
    "broker are links of their own, and whether a child whose annotation is No is visited: all four readings are run.",
    settings={
        Scale.SMALL: {"subscriptions": (1_000, 2_000, 4_000, 8_000), "events": 90},
        Scale.PAPER: {"subscriptions": (1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 20_000), "events": 999},
    },
    measure=_measure,
    criteria=(
        Criterion(
            "002-2-four",
            "Up to four hops link matching takes no more steps than centralized matching",
            "not more, for up to four hops",
            _in_all_readings(_up_to_four_hops),
        ),
        Criterion(
            "002-2-beyond",
            "For more than four hops it takes more",
            "more matching steps",
            _in_all_readings(_more_beyond),
        ),
        Criterion(
            "002-2-slopes",
            "Steps of link matching grow more slowly than those of centralized matching",
            "the slopes, much beyond 10,000",
            _in_all_readings(_central_overtakes),
        ),
        Criterion("002-2-selectivity", "An event matches 1.3 % of the subscriptions", "1.3 %", _selectivity),
        Criterion(
            "002-2-engine",
            "The engine `pst` takes no more steps than the tree of the paper",
            "ours, not the paper's",
            _engine,
        ),
    ),
    plots=(
        *(
            PlotSpec(
                *(f"Tree: {read_as}", "F", "steps", "line"),
                *("number of subscriptions", "matching steps per event"),
                where={"by": read_as.by, "annotation": read_as.annotation.value},
            )
            for read_as in (SUGGESTED, *(each for each in READINGS if each != SUGGESTED))
        ),
        *(
            PlotSpec(
                *(f"The {name}", "F", "steps", "line"),
                *("number of subscriptions", "matching steps per event"),
                where={"by": name},
            )
            for name in ENGINE.values()
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 200},
    is_exact=True,
)
