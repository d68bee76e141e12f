"""The strategies by which routers share the work of filtering: what everybody may know of each.

Law: this is the one list of strategies. How routers follow one stands in `router/core/strategies/`, under the same
names; nothing else in Tamis compares the name of a strategy, but asks for a property that is stated here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class StrategyFacts:
    """A strategy, and what may be expected of a network that follows it."""

    name: str
    """As experiments and `tamis simulate --strategy` say it."""
    key: str
    """As `strategy.name` of a topology file says it."""
    mode: str
    """As `strategy.mode` of a topology file says it."""
    recorded: str
    """As records of routers say it."""
    sentence: str
    loses_nothing: bool = True
    """Every message reaches every subscriber it concerns while the network is at rest, and what routers hold can be
    compared with the truth."""
    goes_where_wanted: bool = True
    """A message goes only by shortest ways to routers that have asked for it, so an audit can say which way it took."""


STRATEGIES: Final = (
    StrategyFacts(
        "advertise",
        "advertise",
        "versioned",
        "advertise",
        "Each router advertises what its clients want, under a version; messages go where they are wanted.",
    ),
    StrategyFacts(
        "paper",
        "advertise",
        "paper",
        "advertise (paper)",
        "Paper 004 to the letter: predicates by interface, without versions. It loses messages; for experiments.",
        loses_nothing=False,
        goes_where_wanted=False,
    ),
)
BY_NAME: Final = {strategy.name: strategy for strategy in STRATEGIES}
PLANNED: Final = ("link-matching", "reuse", "flood", "profile", "rendezvous", "adaptive")
"""Names that a topology file may use one day."""
DEFAULT: Final = STRATEGIES[0]


def chosen(key: str, mode: str) -> StrategyFacts:
    """The strategy that `strategy.name` and `strategy.mode` of a topology file choose; KeyError: there is none."""
    found = [strategy for strategy in STRATEGIES if (strategy.key, strategy.mode) == (key, mode)]
    if not found:
        raise KeyError(f"strategy {key} has no mode {mode}")
    return found[0]


def recorded_as(text: str) -> StrategyFacts | None:
    """The strategy that records name by `text`; None where this release knows none of that name."""
    return next((strategy for strategy in STRATEGIES if strategy.recorded == text), None)
