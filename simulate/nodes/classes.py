"""The classes of messages of a run whose strategy has roots, and their preferred roots.

Law: a class has a plain form, which the oracle reads by itself, and the packed form made of it, which routers read. The
first class prefers two routers of the network, the others choose by their hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.routing.roots import REST, RootChoice
from tamis.simulate.faults.workload import CONTENTS, Plain
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.oracle.roots import ClassTruth
from tamis.simulate.twin.table import Matches

PLAIN: Final[dict[str, tuple[Plain, ...]]] = {
    "urgent": ((("urgent", "=", (True,), False),),),
    "low or at b": ((("level", "<", (3,), False),), (("place", "=", ("b",), False),)),
}


@dataclass(frozen=True, slots=True)
class RunClasses:
    """The classes of a run. If there are none, messages use the trees of their sources. `of_content` has the classes of
    each content."""

    choices: tuple[RootChoice, ...] = ()
    truths: tuple[ClassTruth, ...] = ()
    of_content: tuple[tuple[int, ...], ...] = ()

    def of(self, content: int) -> tuple[int, ...]:
        """Return the classes with a filter that the content satisfies."""
        return self.of_content[content] if self.of_content else ()


NO_CLASSES: Final = RunClasses()


def classes_of_run(names: Sequence[str]) -> RunClasses:
    """Return the classes of a run on a network of routers with these names."""
    lists = {"urgent": tuple(stable_number(name) for name in dict.fromkeys((names[0], names[-1])))}
    choices = [RootChoice(name, lists.get(name, ()), tuple(map(_packed, of))) for name, of in PLAIN.items()]
    truths, taken = [], 0
    for name, of in PLAIN.items():
        contents = 0
        for plain in of:
            contents |= contents_of(plain, CONTENTS)
        truths.append(ClassTruth(name, contents & ~taken, lists.get(name, ())))
        taken |= contents
    rest = contents_of((), CONTENTS) & ~taken
    matches = Matches(CONTENTS)
    bits = [[matches.of(packed) for packed in choice.filters] for choice in choices]
    return RunClasses(
        (*choices, RootChoice(REST)),
        (*truths, ClassTruth("", rest, ())),
        tuple(
            tuple(place for place, of in enumerate(bits) if any(each >> content & 1 for each in of))
            for content, _ in enumerate(CONTENTS)
        ),
    )


def _packed(plain: Plain) -> bytes:
    return encode_filter(
        Filter(tuple(Constraint(name, Op(op), values, negated) for name, op, values, negated in plain))
    )
