"""The classes of messages that a filter concerns; a filter is stated along the trees of their roots.

Law: a filter concerns every class of which some message may satisfy it: a class is left out only where the opposite is
proven. The class of the rest has the messages that satisfy no filter of a class; a filter covered by a filter of a
class therefore does not concern it. A filter that cannot be decoded concerns all classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from tamis.protocol.covering.covers import covers
from tamis.protocol.covering.meets import may_meet
from tamis.protocol.errors import FrameError
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.core.routing.roots import RootChoice

CACHED_MAX: Final = 65_536
"""Filters whose classes are cached, about 200 bytes each and the filter."""


def classes_of(choices: Sequence[RootChoice]) -> Callable[[bytes], int]:
    """Return a function that returns the classes that a packed filter concerns, as bits in the order of `choices`. The
    last choice is that of the rest."""
    classes = [[decode_filter(packed) for packed in choice.filters] for choice in choices[:-1]]
    every, rest = (1 << len(choices)) - 1, 1 << len(classes)

    @lru_cache(CACHED_MAX)
    def concerned(packed: bytes) -> int:
        try:
            filter_ = decode_filter(packed)
        except FrameError:
            return every
        met = sum(1 << place for place, each in enumerate(classes) if _meets(filter_, each))
        is_in_classes = any(covers(of_class, filter_) for each in classes for of_class in each)
        return met if is_in_classes else met | rest

    return concerned


def class_of(choices: Sequence[RootChoice], attributes: Mapping[str, Value]) -> int:
    """Return the index in `choices` of the class of a message with `attributes`: the first with a filter that the
    message satisfies, else the last. The switch finds it by a table; this function is for queries of users."""
    holds = (
        any(filter_matches(decode_filter(packed), attributes) for packed in choice.filters) for choice in choices[:-1]
    )
    return next((place for place, is_in in enumerate(holds) if is_in), len(choices) - 1)


def _meets(filter_: Filter, of_class: Sequence[Filter]) -> bool:
    return any(may_meet(filter_, each) for each in of_class)
