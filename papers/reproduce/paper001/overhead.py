"""Figures 1 to 4 of paper 001: event processing overhead of never, always and partial reuse, over the matching density.

Law: what routers do is counted by the model (`papers/models/lookups.py`), which holds every strategy to the same
deliveries; what that costs are the paper's own unit costs (`costs.py`). Nothing is timed, so every machine agrees. The
text leaves open which n keys a match finds that stops after n: each claim is read in every order of keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean
from typing import Any, Final

from tamis.papers.models import lookups
from tamis.papers.models.lookups import Finds, KeyOrder, LinkSearch
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scale,
    Settings,
)
from tamis.papers.reproduce.judging import Judge, chosen, is_falling, is_rising, listed, number, points, read, ruled
from tamis.papers.reproduce.measuring import ROOT
from tamis.papers.reproduce.paper001 import costs

TOPOLOGY: Final = ROOT / "configs" / "topologies" / "tree100.yaml"
THRESHOLDS: Final = (40, 60, 80, 120, 160, 240)
NEVER: Final = "never"
ALWAYS: Final = "always"
COUNTING: Final = "counting"
KD_TREE: Final = "k-d tree"
_PARTIALS: Final = tuple(f"partial {limit}" for limit in THRESHOLDS)
_ENOUGH: Final = ("partial 60", "partial 80")
"""What the paper finds enough."""
_EVENTS: Final = 1_000
"""Of the paper, to which sums are scaled."""
_NEVER_OVER: Final = 0.056
"""By which share never is over the best at 20 %, in the paper."""
_MATCHES_DEARER: Final = 3.3
_LOOKUPS_DEARER: Final = 1.33
"""The paper's seconds of figure 1 in multiples of ours: of never, which only matches, and of always, which looks up."""


_READ_AS: Final = {KeyOrder.HASH: "the n keys of the least hash", KeyOrder.ROUTER: "the first n keys by router number"}


def _in_each_order(judge: Judge) -> Judge:
    """The judge of a claim that depends on which keys are found. The paper's figures 2(b) and 4(b) suggest the hash:
    by router number, more keys spare matches that theirs do not spare."""

    def judge_all(rows: ResultRows) -> Judgement:
        return read(
            *(
                Reading(name, judge(chosen(rows, order=order.value)), order is KeyOrder.HASH)
                for order, name in _READ_AS.items()
            )
        )

    return judge_all


def worked(run: FigureRun, density: float, order: KeyOrder = KeyOrder.HASH) -> dict[str, Any]:
    """By strategy what routers do, an event on average, and what they search."""

    def count() -> dict[str, Any]:
        events = run.whole("events")
        neighbours = lookups.neighbours_of(TOPOLOGY)
        found = lookups.measured(neighbours, costs.SUBSCRIPTIONS, events, density, THRESHOLDS, order)
        return {
            name: {
                "visits": work.visits / events,
                "matches": work.matches / events,
                "lookups": work.lookups / events,
                "keys_max": work.keys_max,
                "keys": work.keys / max(work.visits - events, 1),
                "searched": [
                    [search.at_entry, search.finds.value, search.subscriptions, times / events]
                    for search, times in work.searched.items()
                ],
            }
            for name, work in found.items()
            if name in (NEVER, ALWAYS, *_PARTIALS)
        }

    key = f"reuse at {density:.1%}, {run.whole('events')} events, keys by {order.value}"
    done: dict[str, Any] = run.cell(key, count)
    return done


def _rows(run: FigureRun, matcher: str, densities: list[float]) -> list[ResultRow]:
    return [row for order in KeyOrder for row in _of_order(run, matcher, densities, order)]


def _of_order(run: FigureRun, matcher: str, densities: list[float], order: KeyOrder) -> list[ResultRow]:
    rows: list[ResultRow] = []
    step_us = costs.step_us(run) if matcher == KD_TREE else 0.0
    for density in densities:
        steps = costs.box_steps(run, density) if matcher == KD_TREE else None
        of_density: list[dict[str, Any]] = []
        for name, work in worked(run, density, order).items():
            limit = int(name.split()[1]) if name in _PARTIALS else 1
            sums = {True: 0.0, False: 0.0}
            for_clients = 0.0
            for at_entry, finds, subscriptions, times in work["searched"]:
                search = LinkSearch(at_entry, Finds(finds), subscriptions)
                us = steps.of(search, density, limit) * step_us if steps else costs.counting_us(search, density)
                sums[at_entry] += us * times
                for_clients += us * times * (search.finds is Finds.ALL and not at_entry)
            reuse = work["lookups"] * costs.LOOKUP_US
            parts = {"source match": sums[True], "other match": sums[False], "reuse": reuse}
            seconds = {part: us * _EVENTS / 1e6 for part, us in parts.items()}
            total = sum(seconds.values())
            clients = {"of it for clients": for_clients * _EVENTS / 1e6}
            told = {name_: work[name_] for name_ in ("visits", "matches", "lookups", "keys_max", "keys")}
            of_density.append(
                {"density": 100 * density, "order": order.value, "strategy": name}
                | seconds
                | clients
                | {"total": total}
                | told
            )
        best = min(row["total"] for row in of_density)
        for row in of_density:
            over = 100 * (row["total"] / best - 1)
            rows.append(row | {"over best": over, "partial": over if row["strategy"] in _PARTIALS else None})
    return rows


# --- figures 1 and 3 -------------------------------------------------------------------------------------------------


def _total(rows: ResultRows, strategy: str, what: str = "total") -> list[float]:
    return [value for _, value in points(chosen(rows, strategy=strategy), "density", what)]


def _densities(rows: ResultRows) -> list[float]:
    return [density for density, _ in points(chosen(rows, strategy=NEVER), "density", "total")]


def _partial_is_below_never(rows: ResultRows) -> Judgement:
    sparse = [k for k, density in enumerate(_densities(rows)) if density <= 5]
    never = _total(rows, NEVER)
    shares = [_total(rows, name)[k] / never[k] for name in _PARTIALS for k in sparse]
    ours = f"{min(shares):.2f} to {max(shares):.2f} of never's, at densities up to 5 %"
    return ruled(max(shares) < 1, ours, "a match that finds many takes longer than those that it spares")


def _always_is_not_best(rows: ResultRows) -> Judgement:
    over = _total(rows, ALWAYS, "over best")
    ours = f"{listed(over, 0)} % over the best, at {listed(_densities(rows), 1)} %"
    return ruled(
        over[0] <= 50 and over[-1] >= 400 and is_rising(over, 0.1), ours, "looking up a key costs less than theirs"
    )


def _never_comes_closer(rows: ResultRows) -> Judgement:
    over = _total(rows, NEVER, "over best")
    ours = f"{listed(over, 0)} % over the best, at {listed(_densities(rows), 1)} %"
    why = (
        "Where many subscriptions match, reuse still spares most matches of links, so never stays behind. A link needs "
        "no match as soon as one of the keys leads to it. "
        f"At {_densities(rows)[-1]:g} % it comes as close as in the paper if a lookup takes "
        f"{_dearer_lookups(rows):.2f} times what Table 1 says"
    )
    return ruled(is_falling(over, 0.05) and over[-1] <= 10, ours, why)


def _dearer_lookups(rows: ResultRows) -> float:
    """How many times as much a lookup must cost for never to be NEVER_OVER over the best, at the highest density."""
    never = _total(rows, NEVER)[-1]
    reused = [(_total(rows, name)[-1], _total(rows, name, "reuse")[-1]) for name in _PARTIALS]
    return max((never / (1 + _NEVER_OVER) - total + reuse) / reuse for total, reuse in reused)


def _partials_are_close(rows: ResultRows) -> Judgement:
    most = {name: max(_total(rows, name, "over best")) for name in _PARTIALS}
    ours = f"at most {listed(list(most.values()), 0)} % over the best, for thresholds {', '.join(map(str, THRESHOLDS))}"
    dearer = [max(_over_best_at(rows, name)) for name in _PARTIALS]
    why = (
        "Few keys leave many matches at low densities, and many keys cost many lookups at high ones. Table 1 prices a "
        "lookup too high against a match for the paper's own seconds. At the prices that these imply (matches "
        f"{_MATCHES_DEARER:g} and lookups {_LOOKUPS_DEARER:g} times those of Table 1) it is at most "
        f"{listed(dearer, 0)} %"
    )
    return ruled(sum(each <= 10 for each in most.values()) > len(_PARTIALS) / 2, ours, why)


def _few_are_enough(rows: ResultRows) -> Judgement:
    """Whether 60 or 80 keys save most of what the best threshold of each density saves."""
    never = _total(rows, NEVER)
    enough, best = (
        [min(line) for line in zip(*(_total(rows, name) for name in names), strict=True)]
        for names in (_ENOUGH, _PARTIALS)
    )
    shares = [(n - own) / (n - b) for n, own, b in zip(never, enough, best, strict=True)]
    last = {name: _total(rows, name)[-1] for name in (NEVER, *_PARTIALS)}
    ours = (
        f"60 or 80 keys realise {listed([100 * share for share in shares], 0)} % of the best saving at "
        f"{listed(_densities(rows), 1)} %; at the highest density {min(last, key=last.__getitem__)} is best"
    )
    why = (
        "Other thresholds save much more at some densities. There a hundred more keys spare matches that cost more "
        "than looking those keys up at every router. The text says of the k-d tree only that it is like counting, "
        "whose curves are numbered"
    )
    return ruled(min(shares) >= 0.75, ours, why)


def _over_best_at(rows: ResultRows, name: str) -> list[float]:
    """Percent over the best at each density, at the prices that the paper's seconds imply."""
    totals = {
        each: [
            _MATCHES_DEARER * (total - reuse) + _LOOKUPS_DEARER * reuse
            for total, reuse in zip(_total(rows, each), _total(rows, each, "reuse"), strict=True)
        ]
        for each in (NEVER, ALWAYS, *_PARTIALS)
    }
    best = [min(line) for line in zip(*totals.values(), strict=True)]
    return [100 * (own / least - 1) for own, least in zip(totals[name], best, strict=True)]


def _saving(rows: ResultRows) -> float:
    never = _total(rows, NEVER)
    best = [min(_total(rows, name)[k] for name in _PARTIALS) for k in range(len(never))]
    return 100 * mean(1 - b / n for b, n in zip(best, never, strict=True))


def _saves(least: float, most: float, rows: ResultRows) -> Judgement:
    share = _saving(rows)
    why = (
        f"The mean is over {len(_densities(rows))} densities, and the paper names none. Keys in the order of a hash "
        "spread over all links, so that more links need no match and reuse saves more than in the paper. In the order "
        "of routers they lead to few links, and the saving is nearer to the paper's"
    )
    return ruled(least <= share <= most, f"{share:.0f} % on average over the densities", why)


_SECONDS: Final = {
    "never": ((0.1, 10.0), (20.0, 8.6)),
    "always": ((0.1, 2.8), (20.0, 170.0)),
    "best": ((0.1, 2.8), (20.0, 8.1)),
}
"""Seconds for 1,000 events that the text states for figure 1, over the density in percent."""


def _seconds(rows: ResultRows) -> Judgement:
    best = [min(_total(rows, name)[k] for name in (*_PARTIALS, ALWAYS)) for k in (0, -1)]
    never, always = _total(rows, NEVER), _total(rows, ALWAYS)
    told, ratios = [], []
    for name, line in (("never", never), ("always", always), ("best", best)):
        ends = (line[0], line[-1])
        told.append(f"{name} {ends[0]:.1f} and {ends[1]:.1f} s")
        ratios += [ours / paper for ours, (_, paper) in zip(ends, _SECONDS[name], strict=True)]
    return ruled(
        all(1 / 1.5 <= ratio <= 1.5 for ratio in ratios),
        f"{', '.join(told)} at 0.1 and 20 %: {listed(ratios)} of theirs",
        "Our matches take about a third of their seconds and lookups three quarters, so the shapes agree. Table 1 "
        "times an index of 10,000 subscriptions; a router searches many small ones, which cost more than their share. "
        "It times a match that finds one subscription, and clients need all",
    )


_FIGURE_1: Final = (
    Criterion(
        "001-1-partial",
        "Partial reuse takes less time than never, with counting",
        "all partial strategies, at low densities",
        _in_each_order(_partial_is_below_never),
    ),
    Criterion(
        "001-1-always",
        "Always is good where few match, and by far the worst where many do",
        "0 to 1,990 % over the best, 2.8 to 170 s",
        _in_each_order(_always_is_not_best),
    ),
    Criterion(
        "001-1-never",
        "Never comes close to the best as the density rises",
        "260 down to 5.6 % over the best",
        _in_each_order(_never_comes_closer),
    ),
    Criterion(
        "001-1-close",
        "Most partial strategies are within 10 % of the best (figure 1(b))",
        "within 10 %",
        _in_each_order(_partials_are_close),
    ),
    Criterion(
        "001-1-enough",
        "60 to 80 keys realise most of the benefit",
        "a threshold of 60 is best even at 20 %",
        _in_each_order(_few_are_enough),
    ),
    Criterion(
        "001-1-saving",
        "Reuse saves half of the overhead, with counting",
        "55 % on average",
        _in_each_order(partial(_saves, 45, 75)),
    ),
    Criterion(
        "001-1-seconds",
        "The unit costs of Table 1 and the counted work give the seconds of figure 1",
        "never 10 and 8.6 s, always 2.8 and 170 s, best 2.8 and 8.1 s, at 0.1 and 20 %",
        _in_each_order(_seconds),
    ),
)
_FIGURE_3: Final = (
    Criterion(
        "001-3-partial",
        "Partial reuse takes less time than never, with the k-d tree",
        "qualitatively similar",
        _in_each_order(_partial_is_below_never),
    ),
    Criterion(
        "001-3-always",
        "Always is good where few match, and by far the worst where many do",
        "qualitatively similar",
        _in_each_order(_always_is_not_best),
    ),
    Criterion(
        "001-3-saving",
        "Reuse saves less with the k-d tree than with counting",
        "40 % on average",
        _in_each_order(partial(_saves, 20, 55)),
    ),
    Criterion(
        "001-3-enough",
        "60 to 80 keys realise most of the benefit (figure 3(b))",
        "as with counting",
        _in_each_order(_few_are_enough),
    ),
)


# --- figures 2 and 4 -------------------------------------------------------------------------------------------------


def _identities(rows: ResultRows) -> Judgement:
    never = max(_total(rows, NEVER, "reuse"))
    always = max(_total(rows, ALWAYS, "other match"))
    ours = f"never reuses for {never:.1f} s, always matches elsewhere for {always:.1f} s"
    return ruled(never == always == 0, ours, "the model counts otherwise")


def _sparse(rows: ResultRows) -> Judgement:
    never, partial = (_total(rows, name, "other match")[0] for name in (NEVER, "partial 60"))
    ours = f"{partial:.2f} s instead of {never:.2f} s at 0.2 % ({partial / never:.0%})"
    return ruled(partial <= 0.4 * never, ours, "Too few lists are complete, so that clients are matched again")


def _dense(rows: ResultRows) -> Judgement:
    few, many = (_total(rows, name, "other match")[-1] for name in _FEW_AND_MANY)
    ours = f"{many:.2f} s with 240 keys, {few:.2f} s with 40, at 5 % ({many / few:.0%})"
    clients, links = _left_by_many(rows)
    return ruled(
        many >= 0.5 * few,
        ours,
        "Six times the keys complete many lists, which spares matches of clients and of links. "
        f"{clients:.0%} and {links:.0%} of them are left, and Table 1 gives a match for clients no higher price",
    )


def _left_by_many(rows: ResultRows) -> tuple[float, float]:
    """Which share of the matches for clients, and of those for links, is left with six times the keys."""
    few, many = (_total(rows, name, "other match")[-1] for name in _FEW_AND_MANY)
    few_clients, many_clients = (_total(rows, name, "of it for clients")[-1] for name in _FEW_AND_MANY)
    return many_clients / few_clients, (many - many_clients) / (few - few_clients)


def _dense_for_clients(rows: ResultRows) -> Judgement:
    share, _ = _left_by_many(chosen(rows, **_SHOWN))
    ours = f"{share:.0%} of the time of matches for clients is left with 240 keys instead of 40, at 5 %"
    return ruled(share >= 0.5, ours, "Six times the keys complete many lists")


def _dense_in_each_reading(rows: ResultRows) -> Judgement:
    """The text explains its figure by matches for clients, which it calls much more expensive than those for links;
    with the price of Table 1 for both, no order of keys shows what the figure does."""
    by_order = (Reading(each.name, each.judged) for each in _in_each_order(_dense)(rows).readings)
    for_clients = Reading("matches for clients alone, as they are much more expensive", _dense_for_clients(rows), True)
    return read(*by_order, for_clients)


def _breakdown(number_: str) -> tuple[Criterion, ...]:
    return (
        Criterion(
            f"001-{number_}-parts",
            "Never reuses nothing, and always matches nowhere but at the source",
            "items 3 and 2 of the breakdown are zero",
            _in_each_order(_identities),
        ),
        Criterion(
            f"001-{number_}-sparse",
            "A little reuse makes the matches of other routers drastically cheaper, at 0.2 %",
            "reduced drastically",
            _in_each_order(_sparse),
        ),
        Criterion(
            f"001-{number_}-dense",
            "At 5 % six times the threshold hardly lowers them further",
            "does not drop much",
            _dense_in_each_reading,
        ),
    )


_SMALL: Final[Settings] = {"events": 24, "densities": (0.001, 0.01, 0.05, 0.2)}
_PAPER: Final[Settings] = {"events": 200, "densities": (0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.15, 0.2)}
_BREAKDOWN: Final = (0.002, 0.05)
_FEW_AND_MANY: Final = ("partial 40", "partial 240")
_SHOWN: Final = {"order": KeyOrder.HASH.value}
"""Plots show the reading that the paper's figures suggest."""
_CHOSEN: Final = (
    "the tree of 100 routers as a heap, 10,000 subscriptions and events at random routers, intervals of one length "
    "d^(1/5) for density d; plots have keys in the order of their hash; always carries one list, not split, to every "
    "router, as 170 s at 20 % imply. Seconds are the counted work of fewer events, scaled to 1,000, at the paper's own "
    "unit costs."
)


def _overhead(
    id_: str, matcher: str, criteria: tuple[Criterion, ...], stated: Mapping[str, Sequence[tuple[float, float]]]
) -> PaperFigure:
    """Return figure 1 or 3; `stated`: the points of it that the text has, by strategy."""
    over_density = PlotSpec(
        *(f"Overhead with {matcher}, 1,000 events", "density", "total", "strategy"),
        *("matching density (percent of the subscriptions)", "time for 1,000 events (seconds)"),
        log_x=True,
        log_y=True,
        where=_SHOWN,
    )
    for strategy, points_ in stated.items():
        over_density = over_density.of_paper(strategy, points_)
    return PaperFigure(
        paper="001",
        id=id_,
        title=f"event processing overhead with {matcher}",
        shows="(a) seconds for 1,000 events at all routers over the matching density, 0.1 to 20 %, for never and "
        "partial "
        "reuse; (b) the same as percent over the best strategy of each density. Always does not fit on the plots.",
        chosen=_CHOSEN,
        settings={Scale.SMALL: _SMALL, Scale.PAPER: _PAPER},
        measure=lambda run: _rows(run, matcher, run.shares("densities")),
        criteria=criteria,
        plots=(
            over_density,
            PlotSpec(
                *(f"Over the best strategy, {matcher}", "density", "partial", "strategy"),
                *("matching density (percent of the subscriptions)", "time over the best (percent)"),
                log_x=True,
                where=_SHOWN,
            ),
            PlotSpec(
                *(f"Matches per event, {matcher}", "density", "matches", "strategy"),
                *("matching density (percent of the subscriptions)", "matches per event"),
                log_x=True,
                where=_SHOWN,
            ),
        ),
        seconds={Scale.SMALL: 12, Scale.PAPER: 200},
        is_exact=True,
    )


def _parts(id_: str, matcher: str) -> PaperFigure:
    def measure(run: FigureRun) -> list[ResultRow]:
        rows = _rows(run, matcher, list(_BREAKDOWN))
        return [
            {**row, "part": part, "seconds": row[part]}
            for row in rows
            for part in ("source match", "other match", "reuse")
        ]

    return PaperFigure(
        paper="001",
        id=id_,
        title=f"where the time goes, with {matcher}",
        shows="bars of three parts (match at the source, match at other routers, reuse) for each strategy, (a) "
        "at 0.2 %, "
        "(b) at 5 %.",
        chosen=_CHOSEN,
        settings={Scale.SMALL: {"events": 24}, Scale.PAPER: {"events": 200}},
        measure=measure,
        criteria=_breakdown(id_),
        plots=tuple(
            PlotSpec(
                *(f"Where the time goes, {matcher}, density {100 * density:g} percent", "strategy", "seconds", "part"),
                *("strategy", "time for 1,000 events (seconds)"),
                kind="stack",
                where={"density": 100 * density, **_SHOWN},
            )
            for density in _BREAKDOWN
        ),
        seconds={Scale.SMALL: 4, Scale.PAPER: 60},
        is_exact=True,
    )


FIGURES_1_TO_4: Final = (
    _overhead("1", COUNTING, _FIGURE_1, _SECONDS),
    _parts("2", COUNTING),
    _overhead("3", KD_TREE, _FIGURE_3, {}),
    _parts("4", KD_TREE),
)


# --- keys ------------------------------------------------------------------------------------------------------------


def _keys(run: FigureRun) -> list[ResultRow]:
    return [
        {
            "density": 100 * density,
            "strategy": name,
            "limit": int(name.split()[1]),
            "keys_max": work["keys_max"],
            "keys": work["keys"],
            "bytes": 4 * work["keys"],
        }
        for density in run.shares("densities")
        for name, work in worked(run, density).items()
        if name in _PARTIALS
    ]


def _bounded(rows: ResultRows) -> Judgement:
    own = chosen(rows, limit=60)
    most = max(number(row, "keys_max") for row in own)
    means = [number(row, "bytes") for row in own]
    within = all(number(row, "keys_max") <= number(row, "limit") for row in rows)
    ours = (
        f"at most {most:.0f} keys, {4 * most:.0f} bytes; {min(means):.0f} to {max(means):.0f} bytes a copy on average"
    )
    return ruled(within and most <= 60, ours, "a list is longer than its threshold")


KEYS: Final = PaperFigure(
    paper="001",
    id="keys",
    title="Keys that travel with an event",
    shows="60 keys of four bytes are enough, so that an event carries at most 240 bytes.",
    chosen=_CHOSEN,
    settings={Scale.SMALL: _SMALL, Scale.PAPER: _PAPER},
    measure=_keys,
    criteria=(
        Criterion(
            "001-keys", "With a threshold of 60 an event carries at most 240 bytes of keys", "240 bytes", _bounded
        ),
    ),
    plots=(
        PlotSpec(
            *("Keys per copy of an event, on average", "density", "keys", "strategy"),
            *("matching density (percent of the subscriptions)", "number of keys"),
            log_x=True,
        ),
    ),
    seconds={Scale.SMALL: 1, Scale.PAPER: 5},
    is_exact=True,
)
