"""A table of one build in a process of its own: `builds.py` starts this file with the build's folder in PYTHONPATH.

    stdin     a pickled job; then a line for each pass
    stdout    a JSON line once the table is built, then one for each pass

Law: nothing is imported but `tamis.native`, and of that only what an earlier build has, too.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from array import array
from collections.abc import Sequence

from tamis import native
from tamis.native import Batch, Table

Job = tuple[Sequence[bytes], "array[int]", Sequence[bytes]]
"""Filters, the interface of each, and messages."""


def _tell(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    filters, interfaces, messages = pickle.load(sys.stdin.buffer)  # noqa: S301 - from builds.py
    added, asked = Batch.of(filters), Batch.of(messages)
    del filters
    with Table() as table:
        start = time.perf_counter()
        table.add_many(added, interfaces)
        _tell(
            build_s=time.perf_counter() - start,
            bytes_per_constraint=table.stats().bytes_per_constraint,
            extension=native.__file__,
        )
        while sys.stdin.buffer.readline():
            measured = table.measure(asked)
            _tell(ns=list(measured.nanoseconds), matched=measured.matched, checksum=measured.checksum)


if __name__ == "__main__":
    main()
