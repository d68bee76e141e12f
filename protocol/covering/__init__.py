"""Covering: whether one filter matches all messages of another. `tamis.native.covering` computes it for a whole
table."""

from tamis.protocol.covering.covers import covers, covers_normal, predicate_covers

__all__ = ["covers", "covers_normal", "predicate_covers"]
