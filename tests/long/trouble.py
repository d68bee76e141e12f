"""What is done to routers under traffic, one thing after another, and how soon those that it does not hit hear each
other again.

    killed, stopped, cut, restarted    one trouble each, of one router or link
    done                               do all of a list in turn, each until everybody hears everybody
    back_s                             from the beginning or end of one to the last message lost between the others

Law: what is hit is a router with its clients; a link hits nobody.
"""

from __future__ import annotations

import asyncio
import bisect
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tamis.testing import RouterNetwork
from tamis.testing.links import ProxyState
from tests.long.chaos import Lost, Traffic, Verdict

DOWN_S = 1.0
STOPPED_S = 2.5
CUT_S = 2.5
HEARD_S = 20.0
"""A client that was cut waits up to 5 s between attempts; then all routers are told what it wants."""
BETWEEN_S = 3.0
"""Longer than trees are held: the next trouble meets a network that has forgotten the one before."""
UNDER_WAY_S = 0.5
"""So long before a trouble a message may have been published that it hits."""

Marks = list[float]
"""The moments at which something changed."""


@dataclass(frozen=True, slots=True)
class Trouble:
    what: str
    hits: frozenset[str]
    do: Callable[[RouterNetwork, Marks], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Done:
    """A trouble that has passed. `marks`: when it began and when it ended; `until_s`: when the next one could begin."""

    trouble: Trouble
    marks: Marks
    until_s: float

    def lost_by_others(self, verdict: Verdict) -> Iterator[Lost]:
        """What was lost, meanwhile, between clients of routers that it did not hit."""
        for each in verdict.lost:
            if self.marks[0] <= each.at_s < self.until_s and not self.trouble.hits & {each.publisher, each.subscriber}:
                yield each

    def back_s(self, verdict: Verdict) -> float:
        """How long after its beginning or its end, whichever was the last, something was still lost between these."""
        late = (
            each.at_s - self.marks[bisect.bisect(self.marks, each.at_s) - 1] for each in self.lost_by_others(verdict)
        )
        return max(late, default=0.0)

    @property
    def heard_s(self) -> float:
        """How long after its end everybody had heard everybody again, those that were hit among them."""
        return self.until_s - self.marks[-1]


def killed(name: str) -> Trouble:
    async def do(network: RouterNetwork, marks: Marks) -> None:
        marks.append(time.monotonic())
        await network[name].kill()
        await asyncio.sleep(DOWN_S)
        await network[name].start()
        marks.append(time.monotonic())

    return Trouble(f"{name} killed", frozenset({name}), do)


def stopped(name: str) -> Trouble:
    async def do(network: RouterNetwork, marks: Marks) -> None:
        marks.append(time.monotonic())
        network[name].pause()
        await asyncio.sleep(STOPPED_S)
        network[name].resume()
        marks.append(time.monotonic())

    return Trouble(f"{name} stopped", frozenset({name}), do)


def cut(one: str, other: str, how: ProxyState) -> Trouble:
    """`how`: "cut" resets the link's connections, "dark" lets its bytes vanish."""

    async def do(network: RouterNetwork, marks: Marks) -> None:
        for state in (how, "open"):
            marks.append(await network.set_link(one, other, state))
            await asyncio.sleep(CUT_S if state == how else 0)

    return Trouble(f"{one} - {other} {how}", frozenset(), do)


def restarted(name: str, **keys: Any) -> Trouble:
    """In good order. `keys` are set in its topology file before it starts again."""

    async def do(network: RouterNetwork, marks: Marks) -> None:
        marks.append(time.monotonic())
        await network[name].leave()
        file = network[name].file
        file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | keys))
        await network[name].start()
        marks.append(time.monotonic())

    return Trouble(f"{name} restarted", frozenset({name}), do)


async def done(
    troubles: Sequence[Trouble], network: RouterNetwork, load: Traffic, between_s: float = BETWEEN_S
) -> list[Done]:
    passed: list[Done] = []
    for each in troubles:
        marks: Marks = []
        await each.do(network, marks)
        await network.until_linked()
        await load.until_heard(HEARD_S)
        passed.append(Done(each, marks, time.monotonic()))
        await asyncio.sleep(between_s)
    return passed


def lost_between(passed: Sequence[Done], verdict: Verdict) -> list[Lost]:
    """What was lost while nothing was the matter. What was under way as the next trouble began is its own."""
    ends_s = [*(each.marks[0] - UNDER_WAY_S for each in passed[1:]), float("inf")]
    calm = [(each.until_s, end_s) for each, end_s in zip(passed, ends_s, strict=True)]
    return [each for each in verdict.lost if any(since_s <= each.at_s < until_s for since_s, until_s in calm)]


def table(passed: Sequence[Done], verdict: Verdict) -> str:
    """What came of each, a line each."""
    lines = ["trouble              lost by others  others back   all heard"]
    for each in passed:
        lost = sum(1 for _ in each.lost_by_others(verdict))
        lines.append(f"{each.trouble.what:20} {lost:14} {each.back_s(verdict):10.2f} s {each.heard_s:9.2f} s")
    return "\n    ".join(lines)
