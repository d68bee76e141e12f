"""The search: the shapes that a family knows, random ones, then the worst so far with one knob turned.

Law: it is seeded, and ends when tries or time are up. A shape is judged by its factor: its dearest message over the
mean one of the plain table, with whichever of the engines that were asked is fastest on that (a plain table that one
engine is slow on excuses nothing), or over an ordinary message where that is dearer (what costs less than ten of those
hurts nobody). Times are minima of passes, in turns with the plain table.
"""

from __future__ import annotations

import random
import time
from array import array
from dataclasses import dataclass
from typing import Any, Final

from tamis.bench.matching import workloads
from tamis.bench.matching.adversary.shapes import Family, Knobs, Shape
from tamis.bench.matching.contenders import Contender, EnginesDisagree, Progress
from tamis.bench.matching.passes import clock_ns
from tamis.native import Batch, InterfaceKind, Table
from tamis.native.query import Mode

CLIENT: Final = 0
MATCHED_SHARE_MAX: Final = 10  # a tenth of the filters at most
_PASSES: Final = 5
_PASSES_MIN, _PASSES_S = 2, 1.0  # fewer where they take long
_ORDINARY_MESSAGES: Final = 200
_ORDINARY_SEED: Final = 2003
_RANDOM_SHARE: Final = 0.5  # of the tries
_MATCHES: Final = 3  # of each message in a pass


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of the dearest message of a shape, and of the mean one; steps and matches of the mean one."""

    us: float
    mean_us: float
    steps: float
    matched: float
    checksum: int


@dataclass(frozen=True, slots=True)
class Worst:
    knobs: dict[str, Any]
    hostile: Cost
    plain: Cost
    ordinary_us: float

    @property
    def factor(self) -> float:
        return self.hostile.us / max(self.plain.mean_us, self.ordinary_us)


class Search:
    """For the first of the contenders, with `count` filters of one client; others may be faster on a plain table."""

    def __init__(self, chosen: tuple[Contender, ...], count: int, ordinary_us: float, seed: int) -> None:
        self._contender, self._others = chosen[0], chosen[1:]
        self._count, self._ordinary_us, self._seed = count, ordinary_us, seed

    def worst(self, name: str, family: Family, tries: int, seconds: float, say: Progress) -> Worst | None:
        """None if no shape that was tried is allowed."""
        rng, start = random.Random(f"adversary {name} {self._seed}"), time.monotonic()
        judged: list[Worst] = []
        seen: list[dict[str, Any]] = []
        while len(seen) < tries and time.monotonic() - start < seconds:
            worst = max(judged, key=lambda each: each.factor, default=None)
            knobs = _next(family, rng, len(seen), tries, worst)
            is_new = knobs not in seen
            seen.append(knobs)
            found = self.judge(family, knobs) if is_new else None
            if found is not None:
                judged.append(found)
                if worst is None or found.factor > worst.factor:
                    times = f"{found.hostile.us:,.1f} us, {found.factor:,.1f} times"
                    say(f"{name}, try {len(seen)}: {times}: {words_of(knobs)}")
        say(f"{name}: {len(seen)} tries, {len(judged)} shapes measured")
        return max(judged, key=lambda each: each.factor, default=None)

    def judge(self, family: Family, knobs: dict[str, Any]) -> Worst | None:
        """None if the shape is not allowed: a message is too long, or too many filters match."""
        try:
            shapes = [make(knobs, self._count, random.Random(self._seed)) for make in (family.hostile, family.plain)]
        except ValueError:
            return None
        hostile, plain = costs_in_turns(self._contender, shapes)
        if hostile.matched > self._count / MATCHED_SHARE_MAX:
            return None
        others = [self._checked(other, shapes[1], plain, knobs) for other in self._others]
        return Worst(knobs, hostile, min([plain, *others], key=lambda each: each.mean_us), self._ordinary_us)

    def others(self, family: Family, worst: Worst) -> dict[str, Cost]:
        """What the other engines take for the same shape; EnginesDisagree unless they answer the same."""
        shape = family.hostile(worst.knobs, self._count, random.Random(self._seed))
        return {each.label: self._checked(each, shape, worst.hostile, worst.knobs) for each in self._others}

    def _checked(self, other: Contender, shape: Shape, expected: Cost, knobs: Knobs) -> Cost:
        (cost,) = costs_in_turns(other, [shape])
        if (cost.checksum, cost.matched) != (expected.checksum, expected.matched):
            raise EnginesDisagree(f"{other.label} and {self._contender.label} disagree on: {words_of(knobs)}")
        return cost


def ordinary_us(contender: Contender, count: int) -> float:
    """What the mean message costs on as many filters of paper 004, all of one client."""
    made = workloads.make("sigcomm03", count, _ORDINARY_MESSAGES, workloads.NAMES, _ORDINARY_SEED)
    messages = [made.messages[i] for i in range(_ORDINARY_MESSAGES)]
    return costs_in_turns(contender, [Shape([made.filters[i] for i in range(count)], messages)])[0].mean_us


def words_of(knobs: Knobs) -> str:
    return ", ".join(f"{name} {value}" for name, value in knobs.items())


def costs_in_turns(contender: Contender, shapes: list[Shape]) -> list[Cost]:
    """All filters of a table belong to one client, and every one that matches is found, as at the client's router."""
    batches = [shape.batches() for shape in shapes]
    tables = [contender.table() for _ in shapes]
    try:
        for table, (filters, _) in zip(tables, batches, strict=True):
            table.set_interface(CLIENT, InterfaceKind.CLIENT)
            table.add_many(filters, array("I", [CLIENT]) * len(filters))
        both = list(zip(tables, (messages for _, messages in batches), strict=True))
        passes: list[list[_Pass]] = []
        start = time.monotonic()
        while len(passes) < _PASSES and (len(passes) < _PASSES_MIN or time.monotonic() - start < _PASSES_S):
            passes.append([_pass(table, messages) for table, messages in both])
    finally:
        for table in tables:
            table.close()
    return [_cost([each[i] for each in passes]) for i in range(len(shapes))]


@dataclass(frozen=True, slots=True)
class _Pass:
    nanoseconds: array[int]
    steps: float
    matched: float
    checksum: int


def _pass(table: Table, messages: Batch) -> _Pass:
    before = table.stats().steps
    told = table.measure(messages, mode=Mode.ALL)
    steps = (table.stats().steps - before) / _MATCHES / len(messages)
    return _Pass(told.nanoseconds, steps, told.matched / len(messages), told.checksum)


def _cost(passes: list[_Pass]) -> Cost:
    fastest = [min(times) for times in zip(*(each.nanoseconds for each in passes), strict=True)]
    us = [max(ns - clock_ns(), 0) / 1e3 for ns in fastest]
    return Cost(max(us), sum(us) / len(us), min(each.steps for each in passes), passes[0].matched, passes[0].checksum)


def _next(family: Family, rng: random.Random, number: int, tries: int, worst: Worst | None) -> dict[str, Any]:
    if number < len(family.known):
        return dict(family.known[number])
    if worst is None or number < tries * _RANDOM_SHARE:
        return {name: rng.choice(allowed) for name, allowed in family.knobs.items()}
    turned = rng.choice(list(family.knobs))
    return worst.knobs | {turned: rng.choice(family.knobs[turned])}
