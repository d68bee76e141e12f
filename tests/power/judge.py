"""What a log must hold after a cut, from what its writers noted: no line of the log's own code is used for that.

Law: of everything that was committed when the last flush before the cut was recorded nothing is missing, each record is
as it was appended, acknowledgements that were committed hold, nothing is told as damaged, and no number comes again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tamis.native.log import Log, LogFull
from tests.power.writer import DURABLES, body_of, options


@dataclass(slots=True)
class Notes:
    """All facts of a run. What a killed process had not brought to disk is not in them."""

    records: dict[int, tuple[int, int, frozenset[int]]] = field(default_factory=dict)
    acks: list[tuple[int | None, int, int, int]] = field(default_factory=list)
    """(number, or None for one of which the process did not hear, keep, first, last)"""
    committed: list[tuple[int, int]] = field(default_factory=list)
    _of_durable: dict[int, list[int]] = field(default_factory=dict)

    def of_durable(self, durable: int) -> list[int]:
        """The numbers of the records for a keep, in order; asked once all notes are read."""
        if durable not in self._of_durable:
            self._of_durable[durable] = sorted(n for n, record in self.records.items() if durable in record[2])
        return self._of_durable[durable]


def read_notes(path: Path) -> Notes:
    """The notes of all lives of a run."""
    notes = Notes()
    for line in path.read_text().splitlines():
        kind, *rest = line.split()
        facts = [int(fact) for fact in rest]
        if kind == "open":
            notes.records = {n: record for n, record in notes.records.items() if n <= facts[0]}
            notes.acks = [ack for ack in notes.acks if ack[0] is None or ack[0] <= facts[0]]
        elif kind == "append":
            notes.records[facts[0]] = (facts[1], facts[2], frozenset(facts[3:]))
        elif kind == "acking":
            notes.acks.append((None, facts[0], facts[1], facts[2]))
        elif kind == "ack":
            notes.acks[-1] = (facts[0], *notes.acks[-1][1:])
        elif kind == "committed":
            notes.committed.append((facts[0], facts[1]))
    return notes


@dataclass(slots=True)
class CreateDurable:
    """What one keep must have, and must not."""

    due: set[int]
    done: set[int]


def expected(notes: Notes, durable: int, committed: int, held: int) -> CreateDurable:
    """`committed` was told; `held` is what the log says it has."""
    mine = notes.of_durable(durable)
    due = set(mine[: bisect_right(mine, committed)])
    done: set[int] = set()
    for n, of, first, last in notes.acks:
        if of == durable:
            covered = mine[bisect_left(mine, first) : bisect_right(mine, last)]
            if n is None or n <= held:
                due.difference_update(covered)
            if n is not None and n <= committed:
                done.update(covered)
    return CreateDurable(due, done)


def judge(folder: Path, notes: Notes, synced: int, run: int) -> list[str]:
    """Open the log that a cut has left, and say what is wrong with it. `synced` entries are covered by a flush."""
    committed = max((n for n, at in notes.committed if at <= synced), default=0)
    wrong = []
    with Log(folder, **options(run)) as log:
        held = log.committed
        if held < committed:
            wrong.append(f"{committed:#x} was committed, the log has {held:#x}")
        if log.missing() or log.recovery()["damages"]:
            wrong.append("damage is told where there was none")
        for durable in DURABLES:
            want = expected(notes, durable, committed, held)
            found = {record.n: record.body for record in log.read(durable)}
            if missing := want.due - found.keys():
                wrong.append(f"keep {durable}: {len(missing)} committed records are missing")
            if again := want.done & found.keys():
                wrong.append(f"keep {durable}: {len(again)} records come again that were done with")
            for n, body in found.items():
                record = notes.records.get(n)
                if record is not None and body != body_of(record[0], record[1]):
                    wrong.append(f"keep {durable}: record {n:#x} has another body")
        with suppress(LogFull):
            if log.ack(1, 0, 0) <= held:
                wrong.append("a number comes again")
    return wrong
