"""E7: what becomes of filters that another filter of the same statement covers.

    optimistic    they are not said. When the filter that covers them goes, they are said before its removal, in one
                  body where that has room: a neighbour never lacks them
    preventive    they are said, marked as covered, and set aside by the neighbour's engine: when the filter that covers
                  them goes, its removal is all that is said

Law: covering is proven, and bounded as that of a router's own filters (`cover.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tamis.router.core.statements.cover import Cover


class Marking(Cover):
    """Find what is covered, and set nothing aside."""

    def __init__(self, cover: Cover) -> None:
        super().__init__(cover.index)
        self.marked: set[bytes] = set()

    def drop(self, packed: bytes) -> Iterable[bytes]:
        self.marked.discard(packed)
        return super().drop(packed)

    def look(self) -> tuple[bytes, ...]:
        packed = self.next_look()
        if packed is None or packed in self.index:
            return ()
        if self.index.covering(packed) is not None:
            self.marked.add(packed)
        else:
            self.index.add(packed)
        return ()
