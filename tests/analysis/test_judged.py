"""Deliveries judged a batch at a time, against an oracle that looks at each subscription and message in turn.

Law: the oracle follows the pages word by word, with loops over plain values: it shares with the audit the kinds of its
input, and the words of its verdicts.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

from tamis.analysis.questions import delivery, demand, matches
from tamis.analysis.questions.clocks import RouterClock
from tamis.analysis.questions.demand import Demand
from tamis.analysis.questions.health import RecordedLife, RecordHole
from tamis.analysis.questions.standing import LOCAL_US, OTHERWISE, REASONS, RecordedNetwork
from tamis.analysis.questions.unrest import UnrestSpan
from tamis.analysis.questions.ways import RestlessSpan
from tamis.analysis.records.by_message import CHAPTER

SECOND_US = 1_000_000
SETTLE_US = SECOND_US
END_US = 200 * SECOND_US
ROUTERS = "abc"
FORMS = ['[["x","<",3]]', '[["x",">",2]]', '[["x","=",5]]', '[["y","exists"]]']
UNREST, SUBSCRIPTION, LOG, UNREACHABLE = (REASONS[each] for each in (1, 2, 3, 4))
BEST = (None, UNREST, SUBSCRIPTION, LOG, UNREACHABLE)
"""Why a delivery need not exist, from `it must exist` on."""
Row = dict[str, Any]
VISIT = pa.struct(
    [
        *(("router", pa.string()), ("epoch", pa.int64()), ("t_us", pa.int64()), ("from_connection", pa.int64())),
        *(("attributes", pa.string()), ("bytes", pa.int64()), ("to_connections", pa.list_(pa.int64()))),
        *(("is_refused", pa.bool_()), ("has_dropped", pa.bool_())),
    ]
)
VISITS = pa.schema(
    [("origin", pa.string()), ("number", pa.int64()), ("visits", pa.list_(VISIT)), (CHAPTER, pa.int64())]
)


class History:
    """A random history of three routers with two lives each: half of its spans are about as long as SETTLE_US."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.has_ways = self.random.random() < 0.5
        self.clocks = {
            router: RouterClock(router, "a", self.random.randrange(-SECOND_US, SECOND_US), self._error())
            for router in ROUTERS
        }
        half = END_US // 2
        self.lives = [
            RecordedLife(router, epoch, (epoch - 1) * half, epoch * half, 9, self.sampling(), *4 * (None,), "")
            for router in ROUTERS
            for epoch in (1, 2)
        ]
        self.holes = [
            RecordHole(life.router, life.epoch, family, *self.span(), 1)
            for life in self.lives
            for family in ("messages", "events")
            if self.random.random() < 0.2
        ]
        self.topology = [
            {"router": life.router, "epoch": life.epoch, "n": n, "at_us": at_us, "routers": self.some(ROUTERS, 0.8)}
            for life in self.lives
            for n, at_us in enumerate(self.moments(life))
        ]
        self.restless = [UnrestSpan(*span, []) for span in disjoint([self.span() for _ in range(4)])]
        self.unsteady = {
            (one, other): [RestlessSpan(*span) for span in disjoint([self.span() for _ in range(3)])]
            for one in ROUTERS
            for other in ROUTERS
            if self.has_ways and self.random.random() < 0.9
        }
        self.subscriptions = [self.subscription() for _ in range(40)]
        self.messages = [self.message(number) for number in range(60)]

    def _error(self) -> int | None:
        return self.random.choice([None, 0, 1_000, 300_000])

    def sampling(self) -> str | None:
        return self.random.choice(["all", "all", "all", "0.5", "0.25", None])

    def some(self, of: str, share: float) -> list[str]:
        return [each for each in of if self.random.random() < share]

    def moments(self, life: RecordedLife) -> list[int]:
        at_us = sorted(self.random.randrange(life.first_us, life.last_us) for _ in range(4))
        if self.random.random() < 0.2:
            self.random.shuffle(at_us)  # a clock went back
        return at_us

    def span(self) -> tuple[int, int]:
        from_us = self.random.randrange(END_US)
        return from_us, from_us + self.random.choice([0, SETTLE_US, 3 * SETTLE_US, 20 * SETTLE_US])

    def subscription(self) -> Row:
        life = self.random.choice(self.lives)
        since_us = self.random.randrange(life.first_us, life.last_us)
        until_us = self.random.choice(
            [life.last_us, min(since_us + self.random.randrange(8 * SETTLE_US), life.last_us)]
        )
        connection = self.random.randrange(3)
        return {
            "router": life.router,
            "epoch": life.epoch,
            "connection": connection,
            "client": f"c{connection}",
            "group": self.random.choice([None, None, "g", "h"]),
            "own": self.random.random() < 0.8,
            "since_us": since_us,
            "until_us": until_us,
            "filter": self.random.randrange(len(FORMS)),
        }

    def message(self, number: int) -> Row:
        entry = self.random.choice(self.lives)
        t_us = self.random.randrange(entry.first_us, entry.last_us)
        said = self.random.choice([{"x": self.random.randrange(6)}, {"y": 1, "x": 2.5}, {}])
        text = "{broken" if self.random.random() < 0.05 else json.dumps(said)
        visits = [self.visit(entry, t_us, text)]
        for life in self.lives:
            if life.epoch == entry.epoch and self.random.random() < 0.7:
                visits.append(self.visit(life, t_us + self.random.randrange(3 * SETTLE_US), None))
            elif self.random.random() < 0.05:
                visits.append(self.visit(life, t_us + self.random.randrange(SETTLE_US), text))
        return {"origin": f"{self.random.randrange(3)}", "number": number, "visits": visits}

    def visit(self, life: RecordedLife, t_us: int, text: str | None) -> Row:
        to = [self.random.randrange(4) for _ in range(self.random.choice([0, 1, 1, 2, 3]))]
        return {
            "router": life.router,
            "epoch": life.epoch,
            "t_us": t_us,
            "attributes": text,
            "bytes": 1,
            "from_connection": self.random.randrange(3) if text else None,
            "to_connections": to or None,
            "is_refused": self.random.random() < 0.1,
            "has_dropped": self.random.random() < 0.05,
        }


def disjoint(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for from_us, to_us in sorted(spans):
        if found and from_us <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], to_us)
        else:
            found.append((from_us, to_us))
    return [span for span in found if span[0] < span[1]]


# ---- the audit ----


def audited(history: History, sent: Callable[[Demand], Demand] = lambda demand: demand) -> Counter[tuple[Any, ...]]:
    network = RecordedNetwork(
        *(history.clocks, history.lives, history.holes, history.topology, history.restless, history.unsteady),
        SETTLE_US,
    )
    schema = [("router", pa.string()), ("epoch", pa.int64()), ("connection", pa.int64()), ("client", pa.string())]
    schema += [("group", pa.string()), ("own", pa.bool_()), ("since_us", pa.int64()), ("until_us", pa.int64())]
    in_force = pa.Table.from_pylist(history.subscriptions, pa.schema([*schema, ("filter", pa.int32())]))
    terms = delivery.Terms(network, sent(Demand.of(in_force, network, len(FORMS))))
    gathered = pa.RecordBatch.from_pylist(history.messages, VISITS)
    known = matches.MatchContext.of(history.clocks, FORMS)
    found = delivery.verdicts(terms, matches.with_filters(known, gathered))
    names = ("number", "router", "epoch", "connection", "group", "verdict", "reason", "is_due", "times", "client")
    return Counter(tuple(row[name] for name in names) for row in found.to_pylist())


# ---- the oracle ----


class Oracle:
    def __init__(self, history: History) -> None:
        self.history = history
        self.life = {(life.router, life.epoch): life for life in history.lives}

    def at_us(self, router: str, t_us: int) -> int:
        return t_us + self.history.clocks[router].offset_us

    def error_us(self, router: str) -> int:
        error_us = self.history.clocks[router].error_us
        return SETTLE_US if error_us is None else error_us

    def entry(self, message: Row) -> Row | None:
        """Where the message entered first, if anywhere."""
        entries = [each for each in message["visits"] if each["attributes"] and not each["is_refused"]]
        return min(entries, key=self.entered, default=None)

    def entered(self, entry: Row) -> tuple[int, str, int]:
        return self.at_us(entry["router"], entry["t_us"]), *self.home(entry)

    def wanted(self, entry: Row, number: int) -> bool:
        x = json.loads(entry["attributes"]).get("x")
        has_y = "y" in json.loads(entry["attributes"])
        return [x is not None and x < 3, x is not None and x > 2, x == 5, has_y][number]

    def is_moving(self, source: str, router: str, at_us: int) -> bool:
        way = self.history.unsteady.get((source, router))
        if way is not None:
            return any(span.from_us <= at_us <= span.to_us for span in way)
        return any(span.from_us <= at_us < span.to_us for span in self.history.restless)

    def is_in_reach(self, entry: Row, router: str, at_us: int) -> bool:
        views = [each for each in self.history.topology if (each["router"], each["epoch"]) == self.home(entry)]
        ends_us = [each["at_us"] for each in views[1:]] + [1 << 62]
        lasting = zip(views, ends_us, strict=True)
        return any(each["at_us"] <= at_us < end_us and router in each["routers"] for each, end_us in lasting)

    @staticmethod
    def home(row: Row) -> tuple[str, int]:
        return row["router"], row["epoch"]

    def is_dark(self, asked: Row, entry: Row, at_us: int) -> bool:
        here_us = at_us - self.history.clocks[asked["router"]].offset_us
        for hole in self.history.holes:
            if (hole.router, hole.epoch) != self.home(asked):
                continue
            near = hole.from_us < here_us + SETTLE_US and hole.to_us > here_us - SETTLE_US
            if near if hole.family == "messages" else hole.from_us < here_us and hole.to_us > asked["since_us"]:
                return True
        mine, source = (self.life[self.home(row)].sampling for row in (asked, entry))
        if mine == "all":
            return False
        if mine is None or source is None:
            return True
        return mine != source and (source == "all" or float(mine) < float(source))

    def why_not(self, asked: Row, entry: Row) -> str | bool | None:
        """Why the delivery need not exist; None if it must; False if the subscription was not in force."""
        at_us, is_home = self.at_us(entry["router"], entry["t_us"]), self.home(asked) == self.home(entry)
        error_us = 0 if is_home else self.error_us(entry["router"]) + self.error_us(asked["router"])
        since_us, until_us = (self.at_us(asked["router"], asked[name]) for name in ("since_us", "until_us"))
        margin_us = error_us + (LOCAL_US if is_home else SETTLE_US)
        if not since_us - error_us <= at_us <= until_us + error_us:
            return False
        if not is_home and not self.is_in_reach(entry, asked["router"], at_us):
            return UNREACHABLE
        if not is_home and self.is_moving(entry["router"], asked["router"], at_us):
            return UNREST
        if not since_us + margin_us <= at_us <= until_us - margin_us:
            return SUBSCRIPTION
        return LOG if self.is_dark(asked, entry, at_us) else None

    def judged(self, message: Row) -> list[tuple[Any, ...]]:
        entry = self.entry(message)
        is_known = entry is not None and entry["attributes"] != "{broken"
        alone: dict[Any, list[str | None]] = defaultdict(list)
        groups: dict[Any, dict[Any, list[str | None]]] = defaultdict(lambda: defaultdict(list))
        satisfied = [each for each in self.history.subscriptions if is_known and self.wanted(entry, each["filter"])]
        for asked in satisfied:
            place = (*self.home(asked), asked["connection"])
            is_publisher = place == (*self.home(entry), entry["from_connection"])
            why = self.why_not(asked, entry)
            if why is False or (is_publisher and not asked["own"]):
                continue
            if asked["group"] is None:
                alone[place].append(why)
            else:
                groups[asked["group"]][place].append(why)
        got: dict[Any, list[int]] = defaultdict(list)
        for visit in message["visits"]:
            if not visit["is_refused"]:
                for connection in visit["to_connections"] or ():
                    got[(*self.home(visit), connection)].append(visit["t_us"])
        is_dropped = any(visit["has_dropped"] for visit in message["visits"])
        rows = {place: self.one(place, alone, got, satisfied, is_known, is_dropped) for place in {*alone, *got}}
        shares = [
            self.of_group(group, members, alone, got, rows, message, is_dropped) for group, members in groups.items()
        ]
        return [(message["number"], *row) for row in (*rows.values(), *filter(None, shares))]

    def one(
        self, place: Any, alone: Any, got: Any, satisfied: list[Row], is_known: bool, is_dropped: bool
    ) -> tuple[Any, ...]:
        why = min(alone[place], key=BEST.index) if place in alone else False
        times = len(got.get(place, ()))
        clients = {f"c{place[2]}" for each in self.history.subscriptions if self.place(each) == place}
        client = clients.pop() if clients else None
        is_due, reason = why is None, None
        if times:
            got_us = min(got[place])
            fits = (
                each["since_us"] - LOCAL_US <= got_us <= each["until_us"] + LOCAL_US
                for each in satisfied
                if self.place(each) == place
            )
            holes = [hole for hole in self.history.holes if (hole.router, hole.epoch) == place[:2]]
            is_behind = any(hole.family == "events" and hole.from_us < got_us for hole in holes)
            verdict = "duplicate" if times > 1 else "delivered"
            if not any(fits):
                is_dark = not is_known or is_behind
                verdict, reason = ("undecided", LOG) if is_dark else ("stray", None)
        else:
            verdict = "undecided" if why else "dropped" if is_dropped else "missing"
            reason = why or None
        return (*place, None, verdict, reason, is_due, times or None, client)

    @staticmethod
    def place(asked: Row) -> tuple[Any, ...]:
        return asked["router"], asked["epoch"], asked["connection"]

    def of_group(
        self, group: str, members: Any, alone: Any, got: Any, rows: Any, message: Row, is_dropped: bool
    ) -> tuple[Any, ...] | None:
        best = {place: min(whys, key=BEST.index) for place, whys in members.items()}
        in_reach = [why for why in best.values() if why != UNREACHABLE]
        why = max(in_reach, key=BEST.index) if in_reach else UNREACHABLE
        takers = sorted(place for place in best if place in got and place not in alone)
        took = sum(best[place] is None for place in takers)
        otherwise = any(place in got and place in alone for place in best)
        entered = [each for each in message["visits"] if each["attributes"] and not each["is_refused"]]
        is_twice = took > 1 and len({self.home(each) for each in entered}) == 1
        if takers and why is None:
            row = rows[takers[0]]
            rows[takers[0]] = (*row[:6], True, *row[7:])
        if takers and not is_twice:
            return None
        verdict = "undecided" if why or otherwise else "dropped" if is_dropped else "missing"
        reason = OTHERWISE if otherwise else why
        is_due = why is None and not is_twice
        return (
            None,
            None,
            None,
            group,
            "duplicate" if is_twice else verdict,
            reason,
            is_due,
            took if is_twice else None,
            None,
        )


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_each_delivery_is_judged_as_by_looking_at_each(first: int) -> None:
    seen = Counter[str]()
    for seed in range(first, first + 20):
        history = History(seed)
        oracle = Oracle(history)
        expected = Counter(row for message in history.messages for row in oracle.judged(message))
        found = audited(history)
        assert found == expected, seed
        seen.update(row[5] for row in found)
    assert set(seen) == {"delivered", "missing", "duplicate", "stray", "dropped", "undecided"}


def test_subscriptions_beyond_the_limit_are_mapped_and_judge_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def sent(held: Demand) -> Demand:
        """As Spark sends it to a process that judges."""
        found = held.held(lambda: tmp_path / str(len(sizes)))
        text = pickle.dumps(found)
        sizes.append(len(text))
        return pickle.loads(text)  # noqa: S301 - made above

    for seed in range(20):
        history = History(seed)
        monkeypatch.setattr(demand, "HELD_BYTES", 1 << 30)
        wanted = audited(history, sent)
        monkeypatch.setattr(demand, "HELD_BYTES", 0)
        assert audited(history, sent) == wanted, seed
    assert max(sizes[1::2]) < 500 < min(sizes[::2])  # what is sent is a folder
    assert len(list(tmp_path.iterdir())) == 20
