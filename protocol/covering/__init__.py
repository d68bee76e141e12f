"""Which filters say more than others. `tamis.native.covering` answers that for a whole table."""

from tamis.protocol.covering.covers import covers, covers_normal, predicate_covers

__all__ = ["covers", "covers_normal", "predicate_covers"]
