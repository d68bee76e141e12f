"""The two spaces of a run with changes of schemas, and the definitions that each may have.

Law: a shape has a plain form, by which the judge decides whether a content is valid, and a space made of it, by which
routers do. The attribute `place` names the space of a content; contents with other places are in no space.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tamis.protocol.spaces import pack, space_from
from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.simulate.faults.workload import CONTENTS, LEVELS

NAMING: Final = "place"
NAMES: Final = ("ab", "b")


class Shape(NamedTuple):
    """A definition of a space: the highest level of a content, and whether `urgent` is required."""

    level_max: int
    needs_urgent: bool


SHAPES: Final[tuple[Shape | None, ...]] = (
    Shape(LEVELS[-1], False),
    Shape(LEVELS[-2], False),
    Shape(LEVELS[-1], True),
    Shape(LEVELS[-4], True),
    None,
)
"""The shapes that a space may have, some wider than others, some not comparable; None: the space is withdrawn."""


def fits(content: int, shape: Shape | None) -> bool:
    """Return whether the content `content` is valid in a space of that shape."""
    attributes = CONTENTS[content]
    is_there = shape is None or not shape.needs_urgent or "urgent" in attributes
    return is_there and (shape is None or int(attributes["level"]) <= shape.level_max)


def space_of(content: int) -> str | None:
    """Return the name of the space of a content; None if it is in no space."""
    name = CONTENTS[content][NAMING]
    return str(name) if name in NAMES else None


def statement(name: str, shape: Shape | None, version: int) -> SpaceStatement:
    if shape is None:
        return SpaceStatement(name, version, b"")
    urgent = {"kind": "boolean", "optional": not shape.needs_urgent}
    said = {"attributes": {"level": {"integer": [0, shape.level_max]}, "urgent": urgent}}
    return SpaceStatement(name, version, pack(space_from(name, said)))


SHAPE_OF: Final = {(name, statement(name, shape, 1).packed): shape for name in NAMES for shape in SHAPES}
"""Maps a name and a packed space to the shape."""
DECLARED: Final = tuple(statement(name, SHAPES[0], 1) for name in NAMES)
"""The declarations in the topology files of all routers."""
