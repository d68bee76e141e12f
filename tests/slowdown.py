"""How much more processor time a piece of work takes here and now than where the bounds of tests were set.

Law: a bound in processor time was set on a quiet machine. Another machine, or other work on the second thread of one
core, makes the same work take up to three times as long, so a test multiplies its bound by `slowdown()`, which measures
a fixed piece of work beside what the test measured. A bound catches a cost that grows with its input, which is ten
times and more; small changes are the business of `bench`.
"""

from __future__ import annotations

import hashlib
import time
from typing import Final

QUIET_S: Final = 0.0055
"""Processor time of `_work` on the machine on which the bounds were set."""
RUNS: Final = 7


def slowdown() -> float:
    """Return the median processor time of `_work` over `QUIET_S`, at least 1."""
    taken_s = sorted(_measured_s() for _ in range(RUNS))
    return max(1.0, taken_s[RUNS // 2] / QUIET_S)


def _measured_s() -> float:
    began_s = time.thread_time()
    _work()
    return time.thread_time() - began_s


def _work() -> int:
    """Do what routers and tests do: small objects of Python, a table that is larger than the first caches, bytes."""
    table = {number * 2654435761 % 1_000_003: str(number) for number in range(20_000)}
    digest = hashlib.sha256(bytes(1 << 20)).digest()
    return sum(len(text) for text in table.values()) + digest[0]
