"""The levels of a topic as attributes, and conditions on them, built in their normal form.

    topic = "a/b/c"    topic/1 = "a"    topic/2 = "b"    topic/3 = "c"

Law: a topic of n levels has the attributes of its first LEVELS_MAX ones, without a gap, so that `exists topic/3` says
that it has at least three. A filter is built from constraints that are in order and that imply none of each other: it
is a normal form already, which a test holds.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.filters import Constraint, Filter, Op, Predicate

LEVELS_MAX: Final = 8
"""Levels of a topic that are attributes."""
_KEPT: Final = 4_096
"""Constraints that are cached, less than 2 MiB: the levels of a system's topics are few words."""

DEEPER: Final = f"levels behind the first {LEVELS_MAX}"


def attributes_of(name: str, levels: Sequence[str]) -> dict[str, str]:
    """Return the attributes of the levels of a topic, counted from its beginning."""
    return {f"{name}/{number}": level for number, level in enumerate(levels[:LEVELS_MAX], 1)}


def whole(name: str, text: str) -> Translated:
    return Translated(Predicate((Filter((equal(name, text),)),)))


def branch(name: str, path: str, separator: str, itself: bool) -> Translated:
    """Return what matches the topics below `path`, and `path` if it belongs to its own branch."""
    if not is_short(path + separator, limits.PATTERN_BYTES_MAX):
        return by_levels(name, path.split(separator), open_end=True)
    below = Filter((Constraint(name, Op.PREFIX, (path + separator,)),))
    return Translated(Predicate((Filter((equal(name, path),)), below) if itself else (below,)))


def by_levels(
    name: str, levels: Sequence[str | None], open_end: bool, *, also: tuple[Constraint, ...] = ()
) -> Translated:
    """Return what matches topics that begin with `levels` (None is any level) and satisfy `also`, constraints on the
    topic itself. With `open_end` further levels may follow."""
    depth = len(levels)
    found = [*also]
    found += [equal(f"{name}/{at}", text) for at, text in enumerate(levels[:LEVELS_MAX], 1) if text is not None]
    if depth <= LEVELS_MAX and levels and levels[-1] is None:
        found.append(exists(f"{name}/{depth}"))
    if depth < LEVELS_MAX and not open_end:
        found.append(lacks(f"{name}/{depth + 1}"))
    complete = depth < LEVELS_MAX or (open_end and depth == LEVELS_MAX)
    return Translated(Predicate((Filter(tuple(found)),)), () if complete else (DEEPER,))


def beyond(name: str, text: str, start: str) -> Translated:
    """Return what matches the topics of a filter that is longer than an operand. `start` begins all of them."""
    cut = start.encode()[: limits.PATTERN_BYTES_MAX].decode(errors="ignore")
    only = Filter((Constraint(name, Op.PREFIX, (cut,)),))
    return Translated(Predicate((only,)), (f"a filter of {len(text.encode())} bytes",))


def is_short(text: str, bytes_max: int) -> bool:
    return len(text) <= bytes_max and (text.isascii() or len(text.encode()) <= bytes_max)


@functools.lru_cache(_KEPT)
def equal(name: str, text: str) -> Constraint:
    return Constraint(name, Op.EQ, (text,))


@functools.lru_cache(_KEPT)
def exists(name: str) -> Constraint:
    return Constraint(name, Op.EXISTS)


@functools.lru_cache(_KEPT)
def lacks(name: str) -> Constraint:
    return Constraint(name, Op.EXISTS, (), negated=True)
