"""Print wrong inputs and their answers, to be read and graded; exit code 1 if one is bad without reading."""

from __future__ import annotations

import argparse
import difflib
import sys

from tests.wrong.case import Answer, Case
from tests.wrong.commands import FILES
from tests.wrong.draw import drawn
from tests.wrong.grade import faults
from tests.wrong.run import answer, at_place, place
from tests.wrong.topologies import GOOD


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.wrong", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="equal seeds give equal inputs")
    parser.add_argument("--count", type=int, default=50, help="how many")
    parser.add_argument("--only-bad", action="store_true", help="print only those that are bad without reading")
    told = parser.parse_args()
    bad = 0
    with place() as at:
        for number, drawn_case in enumerate(drawn(told.seed, told.count), 1):
            case = at_place(drawn_case, at)
            got = answer(case, at.router)
            found = list(faults(case, got))
            bad += bool(found)
            if found or not told.only_bad:
                sys.stdout.write(_shown(number, case, got, found))
                sys.stdout.flush()
    sys.stdout.write(f"seed {told.seed}: {told.count} inputs, {bad} bad\n")
    return 1 if bad else 0


def _shown(number: int, case: Case, got: Answer, found: list[str]) -> str:
    files = "".join(f"  {line}\n" for name, data in case.files.items() for line in _changes(name, data))
    files += f"  stdin {case.stdin[:100]!r}\n" if case.stdin else ""
    said = "".join(f"  > {line[:1000]}\n" for line in (got.out + got.err).splitlines()[:12])
    judged = "".join(f"  BAD {fault}\n" for fault in found)
    return f"{number}. {case.mutation}\n  $ {case.shown[:300]}\n{files}{said}  exit code {got.code}\n{judged}\n"


def _changes(name: str, data: bytes | None) -> list[str]:
    """Return what differs in a file from the good one that is most like it, or its first bytes."""
    if data is None or FILES.get(name) == data:
        return []
    text = data.decode(errors="replace")
    diffs = [
        list(difflib.unified_diff(good.splitlines(), text.splitlines(), n=0, lineterm="")) for good in GOOD.values()
    ]
    least = min((diff[2:] for diff in diffs), key=len)
    return [f"{name} {line[:120]}" for line in least] if len(least) < 12 else [f"{name} {data[:300]!r}"]


if __name__ == "__main__":
    sys.exit(main())
