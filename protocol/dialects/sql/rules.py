"""What differs between dialects of SQL."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Unlike(enum.Enum):
    """What comparisons say of values of two kinds."""

    FALSE = "all of them are false, <> as well"
    UNEQUAL = "<> is true, the others are false"
    UNKNOWN = "all of them are unknown"


@dataclass(frozen=True, slots=True)
class SqlRules:
    unlike: Unlike
    are_texts_ordered: bool
    """Whether < compares two texts; else a text beside it is a mistake."""
    is_like_unknown: bool
    """Whether LIKE is unknown of what is no text; else it is false."""
    are_quotients_cut: bool
    """Whether the quotient of two integers of the text is an integer."""
    escapes_all: bool
    """Whether an escape may stand before any character; else before a wildcard and itself."""
