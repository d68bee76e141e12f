"""E7: the treatment of filters that another filter of the same statement covers.

    optimistic    they are not sent. When their cover is removed, they are sent before the removal, in one body where
                  they fit: a neighbour never lacks them
    preventive    they are sent, marked as covered, and set aside by the neighbour's engine: when their cover is
                  removed, only the removal is sent

Law: covering is proven, and bounded like that of a router's own filters (`cover.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tamis.router.core.statements.cover import Cover


class Marking(Cover):
    """A cover that marks covered filters and sets none aside."""

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
