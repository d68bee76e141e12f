"""Small numbers of filters and of durable subscriptions, each one object for all issuers.

Law: routers number from zero or one on, so that the same numbers come from each of them. A number takes 28 bytes, and
there may be ten thousand of each of a hundred routers. Those from SHARED_MAX on are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SHARED_MAX: Final = 65_536
"""The numbers below take 2.4 MB, as far as they occur."""
_shared: Final[list[int]] = []


def shared(pairs: Iterable[tuple[int, bytes]]) -> dict[int, bytes]:
    """Return `pairs` as a dict whose small numbers are the objects of all such dicts."""
    numbers, found = _shared, dict[int, bytes]()
    for number, packed in pairs:
        if 0 <= number < SHARED_MAX:
            if number >= len(numbers):
                numbers.extend(range(len(numbers), number + 1))
            found[numbers[number]] = packed
        else:
            found[number] = packed
    return found
