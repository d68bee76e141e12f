"""The rules of access of a run: several files of them, each with what clients may publish and get, as plain filters.

Law: a client and a publisher are of the class that their number determines. File 0 allows everything; each router
begins with it.
"""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from tamis.simulate.faults.workload import Wish, wishes

FILES: Final = 6
CLASSES: Final = 4


class ClassRule(NamedTuple):
    """Messages that satisfy a filter of `allow` and none of `deny`."""

    allow: tuple[Wish, ...]
    deny: tuple[Wish, ...]


class FileOfRules(NamedTuple):
    """The rules of one file, by class."""

    publish: tuple[ClassRule, ...]
    get: tuple[ClassRule, ...]


def files_of_rules(random: Random) -> tuple[FileOfRules | None, ...]:
    """Draw the files of a run; None is the one that allows everything."""
    drawn = (FileOfRules(*(tuple(_rule(random) for _ in range(CLASSES)) for _ in range(2))) for _ in range(1, FILES))
    return (None, *drawn)


def _rule(random: Random) -> ClassRule:
    return ClassRule(wishes(random.randint(1, 6), random), wishes(random.choice((0, 0, 1, 2)), random))
