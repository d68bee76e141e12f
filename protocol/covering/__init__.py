"""Which filters say more than others: covering, merging, and an index that answers covering for a whole table."""

from tamis.protocol.covering.covers import covers, covers_normal, predicate_covers
from tamis.protocol.covering.index import CoverIndex
from tamis.protocol.covering.merge import Merged, merge

__all__ = ["covers", "covers_normal", "predicate_covers", "merge", "Merged", "CoverIndex"]
