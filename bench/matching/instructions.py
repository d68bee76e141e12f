"""Instructions of a match, counted by callgrind.

Law: only what runs inside `tm_table_match` is counted. The filters are handed to the child in a file, because making
them under valgrind would take minutes; the few messages are those the clocks saw first.

    parent   workload -> file, valgrind --toggle-collect=tm_table_match python -m tamis.bench.matching.instructions FILE
    child    file -> table -> one match a message; valgrind prints the sum
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from array import array
from pathlib import Path

from tamis.bench import callgrind
from tamis.bench.matching.contenders import Contender, Progress, Setup
from tamis.bench.matching.workloads import Workload
from tamis.native import Batch

MESSAGES = 200

_Job = tuple[Contender, Batch, "array[int]", list[bytes], "list[int] | None"]


def per_message(setup: Setup, contender: Contender, workload: Workload, progress: Progress) -> float | None:
    """Mean instructions of a match, decoding excluded; None for a library, which is not ours to count."""
    if contender.library is not None:
        return None
    progress(f"counting instructions of {contender.label} (its build runs under valgrind, too)")
    interfaces = setup.deal()
    messages = [workload.messages[i] for i in range(min(MESSAGES, len(workload.messages)))]
    job: _Job = (contender, workload.filters, interfaces, messages, setup.grouping)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job"
        path.write_bytes(pickle.dumps(job))
        return callgrind.counted("tm_table_match", "tamis.bench.matching.instructions", str(path)) / len(messages)


def _child(path: Path) -> None:
    contender, filters, interfaces, messages, grouping = pickle.loads(path.read_bytes())  # noqa: S301 - our own file
    table = contender.table()
    table.add_many(filters, interfaces)
    for message in messages:
        table.match(message, grouping=grouping)


if __name__ == "__main__":
    _child(Path(sys.argv[1]))
