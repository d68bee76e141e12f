"""What the simulator's account of the one run says, as the tests ask for it.

Law: nothing here is read from a record; of the tables, only what is not known of the clocks is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from tamis.analysis.questions.unrest import TICK_US
from tamis.analysis.study import SETTLE_US
from tamis.protocol.json_form import encode_filter
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.simulate.faults.faults import WISHES
from tamis.simulate.faults.workload import CONTENTS, Plain, Wish, wishes
from tamis.simulate.oracle.meaning import contents_of
from tests.analysis.conftest import NOTICE_US, SCENARIO, Simulated, Tables

DRAWN: tuple[Wish, ...] = wishes(WISHES, Random(f"{SCENARIO.seed}/wishes"))
MEANINGS = tuple(contents_of(wish.plain, CONTENTS) for wish in DRAWN)


# --- traffic -----------------------------------------------------------------------------------------------------


class Counted(NamedTuple):
    router: str
    second: int
    behind: str
    """A router, or a client."""
    what: str
    count: int


def counted(simulated: Simulated) -> Iterator[Counted]:
    for router, seconds in simulated.truth["interfaces"]["counted"].items():
        for second, counts in seconds.items():
            for key, count in counts.items():
                behind, _, what = key.partition(" ")
                yield Counted(router, int(second), behind, what, count)


def bucket_s(simulated: Simulated) -> int:
    """A hundred for the time of all lives, by the clocks of their routers."""
    lives, ahead_us = (simulated.truth["changes"][name] for name in ("lives", "ahead_us"))
    begin_us = min(life["began_us"] + ahead_us[life["router"]] for life in lives)
    end_us = max(life["wrote_us"] + ahead_us[life["router"]] for life in lives)
    return int(max(1, (end_us - begin_us) // 100_000_000))


def percentiles(took_us: dict[str, int]) -> list[int]:
    """How many; 50, 90 and 99 percent; the longest."""
    each = sorted(int(us) for us, messages in took_us.items() for _ in range(messages))
    return [len(each), *(each[-(-len(each) * percent // 100) - 1] for percent in (50, 90, 99)), each[-1]]


# --- messages and who wanted them --------------------------------------------------------------------------------


class Said(NamedTuple):
    publisher: int
    number: int
    router: str
    epoch: int
    at_us: int
    content: int


class Pair(NamedTuple):
    """A message and a session that has to do with it."""

    publisher: int
    number: int
    client: int
    session: int


@dataclass(frozen=True)
class Wanted:
    router: str
    is_home: bool
    """The message came in there."""
    said: Said
    sure_us: int
    """So long before it had been asked for, and so long after still was."""


def said(simulated: Simulated) -> list[Said]:
    """Each message, where it entered first."""
    first: dict[tuple[int, int], Said] = {}
    for each in map(Said._make, simulated.truth["messages"]["published"]):
        first.setdefault((each.publisher, each.number), each)
    return list(first.values())


def got(simulated: Simulated) -> set[Pair]:
    return set(map(Pair._make, simulated.truth["messages"]["delivered"]))


def wanted(tables: Tables, simulated: Simulated) -> dict[Pair, Wanted]:
    """Whoever had asked for a message when it came, as far as the clocks tell."""
    errors_us = {row["router"]: row["error_us"] for row in tables["logs/clocks"]}
    ends_us = {(life["router"], life["epoch"]): life["wrote_us"] for life in simulated.truth["changes"]["lives"]}
    found: dict[Pair, Wanted] = {}
    for message in said(simulated):
        for asked in simulated.truth["wants"]["asked"]:
            home = asked["router"], asked["epoch"]
            is_home = home == (message.router, message.epoch)
            error_us = 0 if is_home else errors_us[asked["router"]] + errors_us[message.router]
            until_us = ends_us[home] if asked["until_us"] is None else asked["until_us"]
            is_then = asked["since_us"] - error_us <= message.at_us <= until_us + error_us
            if is_then and MEANINGS[asked["wish"]] >> message.content & 1:
                pair = Pair(message.publisher, message.number, asked["client"], asked["session"])
                sure_us = min(message.at_us - asked["since_us"], until_us - message.at_us)
                if pair not in found or found[pair].sure_us < sure_us:
                    found[pair] = Wanted(asked["router"], is_home, message, sure_us)
    return found


# --- contents and filters ----------------------------------------------------------------------------------------


def contents(simulated: Simulated) -> dict[int, int]:
    """Content -> messages."""
    return {int(content): messages for content, messages in simulated.truth["messages"]["contents"].items()}


def written(wish: Wish) -> str:
    return json.dumps(encode_filter(decode_filter(wish.packed)), separators=(",", ":"))


def asked(simulated: Simulated) -> dict[str, Plain]:
    """What was asked for: as it is written -> as the judge reads it."""
    return {written(DRAWN[wish]): DRAWN[wish].plain for wish in map(int, simulated.truth["wants"]["wished"])}


def matches(simulated: Simulated) -> dict[str, int]:
    """Filter -> messages that satisfy it."""
    found = {}
    for wish in map(int, simulated.truth["wants"]["wished"]):
        each = (times for content, times in contents(simulated).items() if MEANINGS[wish] >> content & 1)
        found[written(DRAWN[wish])] = sum(each)
    return found


# --- changes -----------------------------------------------------------------------------------------------------


class Change(NamedTuple):
    at_us: int
    """On the common clock."""
    router: str
    what: str


@dataclass(frozen=True)
class Unrest:
    """A span about changes that has rest before and after it."""

    from_us: int
    to_us: int
    within: tuple[Change, ...]

    @property
    def topologies(self) -> list[Change]:
        return [change for change in self.within if change.what == "topology"]

    @property
    def others(self) -> list[Change]:
        return [change for change in self.within if change.what != "topology"]

    @property
    def took_us(self) -> int:
        """From the first change of a link or router to the last topology that was made of it."""
        return max(max(self.topologies).at_us - min(self.others).at_us, 0)


def reference_ahead_us(simulated: Simulated) -> int:
    """The common clock is that of the first router."""
    ahead_us: dict[str, int] = simulated.truth["changes"]["ahead_us"]
    return ahead_us[min(ahead_us)]


def changes(simulated: Simulated) -> list[Change]:
    """What routers noticed."""
    told, ahead_us = simulated.truth["changes"], reference_ahead_us(simulated)
    noticed = [Change(at_us + ahead_us, router, what) for at_us, router, what, _ in told["noticed"]]
    return noticed + [Change(each["at_us"] + ahead_us, each["router"], "topology") for each in told["topologies"]]


def unrest(tables: Tables, simulated: Simulated) -> list[Unrest]:
    """In ticks; spans that touch are one."""
    errors_us = {row["router"]: row["error_us"] for row in tables["logs/clocks"]}
    around = []
    for change in changes(simulated):
        first = (change.at_us - errors_us[change.router] - NOTICE_US) // TICK_US
        last = (change.at_us + errors_us[change.router] + SETTLE_US) // TICK_US
        around.append(Unrest(first * TICK_US, (last + 1) * TICK_US, (change,)))
    found: list[Unrest] = []
    for span in sorted(around, key=lambda each: each.from_us):
        if found and span.from_us <= found[-1].to_us:
            found[-1] = Unrest(found[-1].from_us, max(found[-1].to_us, span.to_us), found[-1].within + span.within)
        else:
            found.append(span)
    return found
