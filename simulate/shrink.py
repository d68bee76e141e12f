"""The fewest operations that still fail: delta debugging over the list.

Law: a smaller run counts if it violates the invariant that the whole one violated first. The search is bounded by runs,
and returns the best run it has when they are used up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tamis.simulate.run import Outcome, Scenario, plan_of, run

RUNS_MAX = 200
Told = Callable[[int, int], bool]
"""Called with the number of runs so far and of operations left; a true result ends the search."""


def shrink(outcome: Outcome, told: Told = lambda *_: False, runs_max: int = RUNS_MAX) -> Outcome:
    """Return the smallest failing run that was found; `outcome` itself if it has no violation."""
    if not outcome.violations:
        return outcome
    first = outcome.violations[0]
    best = outcome
    left = [number for number in _numbers(outcome.scenario) if number <= first.operation]
    parts, runs = 1, 0
    while runs < runs_max and (left or parts == 1):
        for kept in _choices(left, parts):
            runs += 1
            tried = run(replace(outcome.scenario, only=tuple(kept)), stop_at_first=True)
            enough = told(runs, len(left)) or runs >= runs_max
            if any(found.invariant == first.invariant for found in tried.violations):
                best, left, parts = tried, kept, max(parts - 1, 2)
                break
            if enough:
                return best
        else:
            if parts >= len(left):
                return best
            parts = min(2 * parts, len(left))
    return best


def _numbers(scenario: Scenario) -> list[int]:
    return [operation.number for operation in plan_of(scenario)]


def _choices(numbers: list[int], parts: int) -> list[list[int]]:
    """Return the lists to try: `numbers` without each of its `parts` pieces in turn; for one part, `numbers` itself."""
    if parts == 1:
        return [numbers]
    size = -(-len(numbers) // parts)
    return [numbers[:at] + numbers[at + size :] for at in range(0, len(numbers), size)]
