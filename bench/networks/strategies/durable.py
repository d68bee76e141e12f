"""What the core of a router keeps in memory, counted without running it.

Law: every Python object that the core refers to counts with its own size, once, and an index of covers with what it
takes in C; objects that cores of this process share, such as filters that were sent in memory, count in each, as they
would in daemons of their own. Classes, modules and functions do not count, nor does the cache of paths, which the
routers of a simulation have together.
"""

from __future__ import annotations

import enum
import gc
import sys
import types
from typing import Any, Final

from tamis.native.covering import FilterCovers
from tamis.router.core.routing.paths import PathCache

_APART: Final = (
    *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(enum.Enum, PathCache),
)


def bytes_kept(thing: Any) -> int:  # noqa: ANN401 - any object
    """Return the bytes of `thing` and of all that it refers to."""
    seen, front, size = {id(thing)}, [thing], 0
    while front:
        each = front.pop()
        size += sys.getsizeof(each) + (each.stats()[1] if isinstance(each, FilterCovers) else 0)
        for other in gc.get_referents(each):
            if id(other) not in seen and not isinstance(other, _APART):
                seen.add(id(other))
                front.append(other)
    return size
