"""Covering in a large set of filters, in C: which filters cover a filter, and which ones it covers.

Law: every id in an answer is right, and the work is bounded: a query examines at most LOOKED_AT_MAX filters and may
miss others. Filters are packed. A filter for which no matching message is found is not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Self

from tamis.native._tm import ffi, lib
from tamis.native.results import check
from tamis.native.seed import random_seed

_Question = Callable[..., int]

LOOKED_AT_MAX: Final[int] = lib.TM_COVER_LOOKS
_NONE, _WHOLE, _PART = lib.TM_LEFT_NONE, lib.TM_LEFT_WHOLE, lib.TM_LEFT_PART


class FilterCovers:
    """Filters by id. `memory_bytes`: bound of their memory, 0 for none; an addition past it raises OutOfMemory and
    changes nothing."""

    def __init__(self, memory_bytes: int = 0, seed: int | None = None) -> None:
        made = ffi.new("tm_cover **")
        check(lib.tm_cover_new(memory_bytes, random_seed() if seed is None else seed, made))
        self._c: Any = ffi.gc(made[0], lib.tm_cover_free)
        self._ids: Any = ffi.new("uint32_t[]", LOOKED_AT_MAX)
        self._count: Any = ffi.new("size_t *")
        self._id: Any = ffi.new("uint32_t *")
        self._packed: Any = ffi.new("uint8_t[]", lib.TM_FILTER_BYTES_MAX)
        self._text: Any = ffi.cast("char *", self._packed)  # the same bytes, which cffi unpacks as bytes
        self._size: Any = ffi.new("size_t *")

    def close(self) -> None:
        """Free the memory. No other method may be called afterwards."""
        ffi.release(self._c)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.stats()[0]

    def add(self, packed: bytes) -> int | None:
        """Add a filter and return its id, which may be used again after its removal. Return None if no matching message
        was found; the filter is then not stored."""
        result = lib.tm_cover_add(self._c, packed, len(packed), self._id)
        if result == lib.TM_ABSENT:
            return None
        check(result)
        return int(self._id[0])

    def remove(self, id_: int) -> None:
        """Remove the filter with an id; raise KeyError if there is none."""
        check(lib.tm_cover_remove(self._c, id_))

    def covering(self, packed: bytes, most: int = LOOKED_AT_MAX) -> list[int]:
        """Return the ids of at most `most` filters that cover this one, also of equivalent ones."""
        return self._answers(lib.tm_cover_covering, packed, most)

    def covered(self, packed: bytes, most: int = LOOKED_AT_MAX) -> list[int]:
        """Return the ids of at most `most` filters that this one covers, also of equivalent ones."""
        return self._answers(lib.tm_cover_covered, packed, most)

    def covers(self, wide: bytes, narrow: bytes) -> bool:
        """Return whether filter `wide` covers filter `narrow`; neither needs to be stored."""
        answer = ffi.new("bool *")
        check(lib.tm_cover_judge(self._c, wide, len(wide), narrow, len(narrow), answer))
        return bool(answer[0])

    def left(self, packed: bytes, rule: bytes) -> bytes | None:
        """Return the filter of the messages that satisfy a filter and a rule, in normal form if both are: `packed`
        itself if the rule covers it, b"" if there are none; None if it is not found name by name, as for a malformed
        filter."""
        left = lib.tm_cover_left(self._c, packed, len(packed), rule, len(rule), self._packed, self._size)
        if left == _PART:
            return ffi.unpack(self._text, self._size[0])  # type: ignore[no-any-return]
        return packed if left == _WHOLE else b"" if left == _NONE else None

    def stats(self) -> tuple[int, int]:
        """Return the number of filters and the bytes of memory in use."""
        filters, memory = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        lib.tm_cover_stats(self._c, filters, memory)
        return int(filters[0]), int(memory[0])

    def validate(self) -> None:
        """Check every invariant of the structures in C; raise RuntimeError for a violated one."""
        reason = ffi.new("char **")
        result = lib.tm_cover_validate(self._c, reason)
        if result == lib.TM_MISUSED:
            raise RuntimeError(f"covers: {ffi.string(reason[0]).decode()}")
        check(result)

    def fail_allocation(self, n: int) -> None:
        """Make the n-th allocation from now on fail; 0 turns this off. For tests."""
        lib.tm_cover_fail_allocation(self._c, n)

    def _answers(self, question: _Question, packed: bytes, most: int) -> list[int]:
        check(question(self._c, packed, len(packed), self._ids, min(most, LOOKED_AT_MAX), self._count))
        return list(ffi.unpack(self._ids, self._count[0])) if self._count[0] else []
