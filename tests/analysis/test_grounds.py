"""Messages whose grounds are equal have equal verdicts, whatever else became known; most of what happens at other times
changes no grounds."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

from tamis.analysis.questions import delivery, grounds, matches
from tamis.analysis.questions.demand import Demand
from tamis.analysis.questions.grounds import Grounds
from tamis.analysis.questions.health import RecordHole
from tamis.analysis.questions.standing import RecordedNetwork
from tamis.analysis.questions.unrest import UnrestSpan
from tamis.analysis.questions.ways import RestlessSpan
from tests.analysis.test_judged import END_US, FORMS, ROUTERS, SETTLE_US, VISITS, History

SEEDS = 15
EARLY_US = END_US // 4
"""Until then messages enter."""
ASKED = pa.schema(
    [
        *(("router", pa.string()), ("epoch", pa.int64()), ("connection", pa.int64()), ("client", pa.string())),
        *(("group", pa.string()), ("own", pa.bool_()), ("since_us", pa.int64()), ("until_us", pa.int64())),
        ("filter", pa.int32()),
    ]
)


def judged(history: History, forms: list[str]) -> tuple[str, Counter[str]]:
    """Return the grounds and verdicts of early messages."""
    network = RecordedNetwork(
        *(history.clocks, history.lives, history.holes, history.topology, history.restless, history.unsteady),
        SETTLE_US,
    )
    rows = [row | {"filter": forms.index(FORMS[row["filter"]])} for row in history.subscriptions]
    in_force = pa.Table.from_pylist(rows, ASKED)
    early = [each for each in history.messages if each["visits"][0]["t_us"] < EARLY_US]
    known = matches.MatchContext.of(history.clocks, forms)
    batch = matches.with_filters(known, pa.RecordBatch.from_pylist(early, VISITS))
    found = delivery.judged(delivery.Terms(network, Demand.of(in_force, network, len(forms))), batch)
    times = pa.Table.from_batches([grounds.times(known, batch)])
    return Grounds.of(network, in_force, forms).digest(times), Counter(map(repr, found.to_pylist()))


# ---- what becomes known later ----


def clock(history: History, by_us: int) -> None:
    router = history.random.choice(ROUTERS)
    known = history.clocks[router]
    history.clocks[router] = known._replace(offset_us=known.offset_us + history.random.randrange(-by_us, by_us + 1))


def error(history: History) -> None:
    router = history.random.choice(ROUTERS)
    known = history.clocks[router]
    history.clocks[router] = known._replace(error_us=(known.error_us or 0) + 7)


def lasting(history: History) -> None:
    """A life lasts on, and so do its subscriptions."""
    place = history.random.randrange(len(history.lives))
    life = history.lives[place]
    for asked in history.subscriptions:
        if (asked["router"], asked["epoch"]) == life[:2] and asked["until_us"] == life.last_us:
            asked["until_us"] += SETTLE_US
    history.lives[place] = life._replace(last_us=life.last_us + SETTLE_US)


def leaving(history: History) -> None:
    """A subscription ends."""
    asked = history.random.choice(history.subscriptions)
    asked["until_us"] = history.random.randrange(asked["since_us"], asked["until_us"] + 1)


def asking(history: History) -> None:
    asked = history.subscription()
    history.subscriptions.insert(history.random.randrange(40), asked)


def hole(history: History) -> None:
    life, family = history.random.choice(history.lives), history.random.choice(["messages", "events"])
    history.holes.append(RecordHole(life.router, life.epoch, family, *history.span(), 1))


def unrest(history: History) -> None:
    history.restless.append(UnrestSpan(*history.span(), []))


def way(history: History) -> None:
    if history.unsteady:
        spans = history.unsteady[history.random.choice(sorted(history.unsteady))]
        spans.append(RestlessSpan(*history.span()))


def topology(history: History) -> None:
    life = history.random.choice(history.lives)
    mine = [row for row in history.topology if (row["router"], row["epoch"]) == life[:2]]
    at_us = history.random.randrange(max(row["at_us"] for row in mine), 2 * END_US)
    row = {"router": life.router, "epoch": life.epoch, "n": len(mine), "at_us": at_us, "routers": ["a"]}
    history.topology.append(row)


def sampling(history: History) -> None:
    place = history.random.randrange(len(history.lives))
    history.lives[place] = history.lives[place]._replace(sampling=history.sampling())


CHANGES: dict[str, Callable[[History], None]] = {
    "clock, by little": lambda history: clock(history, 9),
    "clock, by much": lambda history: clock(history, SETTLE_US),
    **{each.__name__: each for each in (error, lasting, leaving, asking, hole, unrest, way, topology, sampling)},
}
RARE = {"clock, by much", "sampling"}
"""These concern most messages."""


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_equal_grounds_mean_equal_verdicts(change: str) -> None:
    kept = 0
    for seed in range(SEEDS):
        before = History(seed)
        after = copy.deepcopy(before)
        for _ in range(after.random.choice((1, 1, 2))):
            CHANGES[change](after)
        forms = sorted({*FORMS, *after.random.sample(['[["a","exists"]]', '[["y","=",7]]'], 1)})
        (old, was), (new, is_now) = judged(before, sorted(FORMS)), judged(after, forms)
        assert old != new or was == is_now, (seed, was - is_now, is_now - was)
        kept += old == new
    if change in RARE:
        assert kept < SEEDS, "it concerned none of the messages"
    else:
        assert kept >= (SEEDS if change == "lasting" else 1), "grounds changed though nothing near the messages did"


def test_no_messages_have_grounds() -> None:
    history = History(1)
    history.messages = []
    assert judged(history, sorted(FORMS))[0] == judged(history, sorted(FORMS))[0]
